/**
 * Work in the web process, through the very same protocol as a worker's: the same engine, handlers and leases, its parsers in children of
 * their own, a row of its own in the registry (role `inline`). ANALYSIS_WORKER_MODE=inline: always. remote: a capability that no live worker
 * has advertised for INLINE_AFTER_SECONDS, until one does; then the inline worker drains and gives back what does not finish. An operator
 * may drain it like any worker: it idles until it is resumed, and web goes on serving. Looks every POLL_SECONDS. Crash: its leases run out like any worker's.
 */
import type pg from 'pg';
import type { Config } from '../config.js';
import type { Handlers } from '../lease/handler.js';
import { advertised } from '../lease/processes.js';
import { queues, type Capability } from '../lease/queues.js';
import { isDrained } from '../lease/worker-orders.js';
import type { Logger } from '../log.js';
import { createLoop } from '../worker/loop.js';
import { createWorkerProcess, type WorkerProcess } from '../worker/process.js';
import { beatingOftenEnough, handlersOf } from './handlers.js';

interface InlineWork {
  start(): void;
  /** Takes nothing from now on; finishes or gives back what it holds within `seconds`. Never rejects. */
  stop(seconds: number): Promise<void>;
}

interface Parts {
  config: Config;
  pool: pg.Pool;
  log: Logger;
}

export function createInlineWork({ config, pool, log }: Parts): InlineWork {
  let handlers: Handlers | undefined;
  let current: { worker: WorkerProcess; takes: readonly Capability[] } | undefined;
  const retiring = new Set<Promise<void>>();
  const missing = createMissing(config.inlineAfterSeconds);
  const looks = createLoop({ name: 'inline work', everyMs: config.pollSeconds * 1000, jitter: 0.2, run: look, log });

  async function look(): Promise<void> {
    const mine = capabilitiesOf(config);
    const wanted = config.analysisWorkerMode === 'inline' ? mine : missing(mine, await advertised(pool));
    if (wanted.join() === (current?.takes ?? []).join()) return;
    // Another one in its place, now or when the workers are away again, would take work against the order; resumed, it is replaced at the next look.
    if (current && await isDrained(pool, current.worker.identity.id)) return;
    retire(config.drainSeconds);
    if (wanted.length > 0) await begin(wanted);
  }

  async function begin(takes: readonly Capability[]): Promise<void> {
    handlers ??= handlersOf(config, pool);
    const worker = createWorkerProcess({ config: beatingOftenEnough({ ...config, workerCapabilities: [...takes] }), role: 'inline', pool, handlers, log });
    current = { worker, takes };
    log.info({ event: 'inline_begins', takes }, 'No live worker takes this work: this process takes it inline');
    try {
      await worker.start();
    } catch (error) {
      retire(0);
      throw error;
    }
  }

  /** Does not wait: what comes after it takes work at once, and what drains is waited for at the end. */
  function retire(seconds: number): void {
    const leaving = current?.worker;
    current = undefined;
    if (!leaving) return;
    log.info({ event: 'inline_ends', worker: leaving.identity.id }, 'Inline work drains');
    const left = leaving.stop(seconds)
      .catch((error: unknown) => log.warn({ event: 'inline_end_failed', err: error }, 'Inline work did not end cleanly'))
      .finally(() => retiring.delete(left));
    retiring.add(left);
  }

  return {
    start() {
      looks.start();
      void looks.runOnce().catch((error: unknown) => log.warn({ event: 'inline_look_failed', err: error }, 'Whether a worker lives could not be read; it is looked at again'));
    },
    async stop(seconds) {
      await looks.stop();
      retire(seconds);
      await Promise.all(retiring);
    },
  };
}

/** What this process could take. */
function capabilitiesOf(config: Config): Capability[] {
  const possible = config.workerCapabilities.filter((capability) => capability !== 'publish' || config.orchestratorUrl !== undefined);
  return [...new Set(queues.map((queue) => queue.capability))].filter((capability) => possible.includes(capability));
}

/** Remembers since when (monotonic clock) each capability has been missing: a worker that is only being restarted does not move its work here. */
function createMissing(afterSeconds: number) {
  const since = new Map<Capability, number>();
  return (mine: readonly Capability[], live: ReadonlySet<string>): Capability[] => {
    const now = performance.now();
    for (const capability of mine) {
      if (live.has(capability)) since.delete(capability);
      else if (!since.has(capability)) since.set(capability, now);
    }
    return mine.filter((capability) => since.has(capability) && now - since.get(capability)! >= afterSeconds * 1000);
  };
}
