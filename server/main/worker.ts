/**
 * The worker process: claims, works, beats, settles. Killed at any moment it loses nothing: its leases run out and the sweep requeues the
 * rows. SIGTERM drains it within DRAIN_SECONDS.
 */
import { createPool } from '../db/connection.js';
import { createWorkerProcess } from '../worker/process.js';
import { boot } from './boot.js';
import { beatingOftenEnough, handlersOf } from './handlers.js';
import { runMain, stopOnSignal } from './run-main.js';

/** After the drain: last words, connections, pool (ms). */
const CLOSE_SLACK_MS = 5_000;

await runMain(async () => {
  const { config: booted, log } = await boot('worker');
  const config = beatingOftenEnough(booted);
  const pool = createPool(config, { role: 'worker', log });
  const worker = createWorkerProcess({ config, role: 'worker', pool, handlers: handlersOf(config, pool), log });
  // Before the first claim: a signal that comes while starting must find someone who gives back.
  stopOnSignal({
    log,
    budgetMs: config.drainSeconds * 1000 + CLOSE_SLACK_MS,
    async stop() {
      await worker.stop(config.drainSeconds);
      await pool.end();
    },
  });
  await worker.start();
  process.send?.({ ready: worker.identity.id });
});
