/**
 * A child process that is kept running: started again with growing pauses when it ends and we did not ask for it. It gets a process group of its own
 * (a Ctrl-C in the terminal reaches us alone, so that it is asked to stop once) and an IPC channel (when we are killed, the channel
 * closes, and it drains and ends by itself).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Logger } from '../log.js';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** After this long without a crash the pauses start small again. */
const STABLE_MS = 60_000;

export type Supervised = {
  /** Asks it to stop and waits; kills it after `limitMs`. No restart from now on. */
  stop(limitMs: number): Promise<void>;
  kill(): void;
  /** Lets it drain, then starts it anew at once. */
  restart(): void;
};

export function supervise(name: string, file: string, env: NodeJS.ProcessEnv, log: Logger, args: readonly string[] = []): Supervised {
  let child: ChildProcess;
  let stopping = false;
  let restarting = false;
  let pauseMs = FIRST_PAUSE_MS;
  let nextStart: NodeJS.Timeout | undefined;

  function start() {
    const since = performance.now();
    child = spawn(process.execPath, ['--enable-source-maps', file, ...args], { env, detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.on('error', error => log.error({ event: 'child_failed', child: name, error }, `${name} could not be started`));
    child.on('exit', (code, signal) => {
      if (stopping) return;
      if (restarting) {
        restarting = false;
        return start();
      }
      if (performance.now() - since > STABLE_MS) pauseMs = FIRST_PAUSE_MS;
      tellEnd(log, name, { code, signal, againInMs: pauseMs });
      nextStart = setTimeout(start, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    });
  }

  start();
  return {
    async stop(limitMs) {
      stopping = true;
      clearTimeout(nextStart);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGTERM');
      const overdue = setTimeout(() => {
        log.error({ event: 'child_killed', child: name }, `${name} did not stop in time and was killed; its leases come back by the sweep`);
        child.kill('SIGKILL');
      }, limitMs);
      await ended;
      clearTimeout(overdue);
    },
    kill() {
      stopping = true;
      clearTimeout(nextStart);
      child.kill('SIGKILL');
    },
    restart() {
      restarting = true;
      child.kill('SIGTERM');
    },
  };
}

/** A child that drained and ended with 0, or was asked while it booted, did what somebody told it: no fault, but not what this command is for. */
function tellEnd(log: Logger, name: string, end: { code: number | null; signal: NodeJS.Signals | null; againInMs: number }): void {
  const facts = { event: 'child_ended', child: name, ...end };
  const next = `it is started again in ${end.againInMs / 1000} s`;
  const asked = end.code === 0 || end.signal === 'SIGTERM' || end.signal === 'SIGINT';
  if (asked) log.warn(facts, `${name} was asked to stop by somebody else and ended in order; ${next}. To stop everything, end npm start itself (Ctrl-C)`);
  else log.error(facts, `${name} ended by itself (${end.signal ?? `code ${end.code}`}); ${next}`);
}
