/**
 * The web process in the registry of processes: registered at the start, a beat every HEARTBEAT_SECONDS, a last word at the end. A beat
 * that fails is logged and tried again; nobody works less because of it, but after three missed ones the console calls us silent.
 */
import type pg from 'pg';
import { beatProcess, markStopped, registerProcess, startShutdownDrain, type ProcessIdentity } from '../lease/processes.js';
import type { Logger } from '../log.js';
import { createLoop } from '../worker/loop.js';

export interface Registration {
  /** Registers and begins to beat. */
  start(): Promise<void>;
  /** Says that this process is being stopped and has `seconds` left. Never rejects. */
  drain(seconds: number): Promise<void>;
  /** Stops beating and says the last word. Never rejects. */
  stop(): Promise<void>;
}

export function createRegistration({ pool, identity, log }: { pool: pg.Pool; identity: ProcessIdentity; log: Logger }): Registration {
  const beats = createLoop({
    name: 'web beat', everyMs: identity.heartbeatSeconds * 1000, retryMs: 1000, jitter: 0.1, log,
    async run() {
      if (!await beatProcess(pool, identity.id)) await registerProcess(pool, identity);
    },
  });
  const tell = (word: Promise<void>, event: string) => word.catch((error: unknown) => log.warn({ event, error }, 'The registry of processes could not be told'));
  return {
    async start() {
      await registerProcess(pool, identity);
      beats.start();
    },
    drain: (seconds) => tell(startShutdownDrain(pool, identity.id, seconds), 'drain_not_recorded'),
    async stop() {
      await beats.stop();
      await tell(markStopped(pool, identity.id), 'stop_not_recorded');
    },
  };
}
