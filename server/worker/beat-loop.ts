/**
 * Beats: every HEARTBEAT_SECONDS one statement renews all leases of the process and one its own row in the registry, on a connection of
 * their own with a short limit. A failed beat is tried again soon; only "gone" from the database or the local deadline mean lost. Rows that
 * were locked for a moment are asked for again. Crash: the leases run out and the sweep takes over.
 */
import { beatProcess, type ProcessOrders } from '../lease/processes.js';
import type { Queryable } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import { renew, type Renewal } from '../lease/renew.js';
import type { Logger } from '../log.js';
import type { Held } from './held.js';
import type { Holdings } from './holdings.js';
import { createLoop, type Loop } from './loop.js';

/** A row that is locked by its own settle or by a sweep is free again within moments. */
const SKIPPED_PAUSE_MS = 200;
const SKIPPED_TRIES = 5;

export interface BeatOptions {
  db: Queryable;
  holdings: Holdings;
  processId: string;
  leaseSeconds: number;
  heartbeatSeconds: number;
  registry: readonly QueueDefinition[];
  /** The registry does not know this process (any more): register again. */
  register(): Promise<void>;
  orders(orders: ProcessOrders): void;
  /** After a beat went through. */
  beaten(): void;
  log: Logger;
}

export function createBeatLoop(options: BeatOptions): Loop {
  return createLoop({
    name: 'heartbeat',
    everyMs: options.heartbeatSeconds * 1000,
    retryMs: Math.min(1000, (options.heartbeatSeconds * 1000) / 4),
    jitter: 0.1,
    run: () => beat(options),
    log: options.log,
  });
}

async function beat(options: BeatOptions): Promise<void> {
  await renewAll(options);
  const orders = await beatProcess(options.db, options.processId);
  if (orders) options.orders(orders);
  else await options.register();
  options.beaten();
}

async function renewAll(options: BeatOptions): Promise<void> {
  let waiting = options.holdings.all();
  for (let tried = 0; waiting.length > 0 && tried < SKIPPED_TRIES; tried++) {
    if (tried > 0) await new Promise((resolve) => setTimeout(resolve, SKIPPED_PAUSE_MS));
    waiting = await renewOnce(waiting.filter((held) => options.holdings.has(held)), options);
  }
}

/** @returns those that were locked just now. */
async function renewOnce(held: readonly Held[], options: BeatOptions): Promise<Held[]> {
  const sentAt = performance.now();
  const renewals = await renew(options.db, held.map(beatOf), options.leaseSeconds, options.registry);
  const skipped: Held[] = [];
  for (const one of held) take(one, renewals.get(`${one.lease.queue}/${one.lease.id}`), sentAt, skipped, options);
  return skipped;
}

function take(held: Held, renewal: Renewal | undefined, sentAt: number, skipped: Held[], { holdings, log }: BeatOptions): void {
  if (renewal === 'renewed') holdings.renewed(held, sentAt);
  else if (renewal === 'skipped') skipped.push(held);
  else if (holdings.has(held) && !held.settling && !held.ending) {
    log.warn({ event: 'lease_lost', queue: held.lease.queue, row: held.lease.id, leaseToken: held.lease.token }, 'A lease is gone; its work was stopped');
    holdings.lose(held, 'the row is not running under this token any more');
  }
}

function beatOf(held: Held) {
  const { queue, id, token } = held.lease;
  return { queue, id, token, ...(held.progress ? { progress: held.progress } : {}) };
}
