/** The frame around every process: errors that end it are said plainly, signals end it in order. */
import { ConfigError } from '../config.js';
import { MigrationError } from '../db/migration-error.js';
import type { Logger } from '../log.js';

/** After the first signal, repeats within this time (ms) are the same press: a terminal and npm both deliver Ctrl-C. */
const SAME_PRESS_MS = 1000;

/** Runs a process's main function. When it throws, says why on stderr (without a stack where the message is an instruction) and ends with 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${sentence(error)}\n`);
    process.exit(1);
  }
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const instructs = error instanceof ConfigError || error instanceof MigrationError || Object.getPrototypeOf(error) === Error.prototype;
  return instructs ? error.message : error.stack ?? error.message;
}

/**
 * Calls `stop` once, on SIGTERM, on SIGINT, or when the parent that started us with an IPC channel is gone (it may have been killed: then
 * nobody else would end us). Then the process ends with 0. A second signal, `budgetMs` running out, or a failing `stop` end it at once
 * with 1; what it held is then given back by the sweep.
 */
export function stopOnSignal(options: { log: Logger; budgetMs: number; stop: (reason: string) => Promise<void> }): void {
  let stoppingSince: number | undefined;
  const request = (reason: string) => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now();
      void stopWithin(reason, options);
    } else if (reason !== 'disconnect' && performance.now() - stoppingSince > SAME_PRESS_MS) {
      options.log.warn({ event: 'stop_forced', reason }, 'Asked to stop a second time: ending at once');
      process.exit(1);
    }
  };
  process.on('SIGTERM', () => request('SIGTERM'));
  process.on('SIGINT', () => request('SIGINT'));
  process.on('disconnect', () => request('disconnect'));
  if (process.connected === false) request('disconnect');   // it went while we were booting
}

async function stopWithin(reason: string, { log, budgetMs, stop }: { log: Logger; budgetMs: number; stop: (reason: string) => Promise<void> }): Promise<void> {
  log.info({ event: 'stopping', reason }, 'Asked to stop');
  setTimeout(() => {
    log.error({ event: 'stop_overdue', budgetMs }, 'Stopping took longer than its budget: ending at once');
    process.exit(1);
  }, budgetMs).unref();
  try {
    await stop(reason);
    log.info({ event: 'stopped' }, 'Stopped');
    process.exit(0);
  } catch (error) {
    log.error({ event: 'stop_failed', error }, 'Stopping failed');
    process.exit(1);
  }
}
