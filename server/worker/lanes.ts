import type { Config } from '../config.js';
import type { Capability, QueueDefinition } from '../lease/queues.js';

/** Slots that a set of queues shares. */
export interface Lane {
  slots: number;
  queues: readonly QueueDefinition[];
}

/**
 * One lane for all capabilities, and one for each that has a limit of its own (WORKER_CONCURRENCY_PARSE, …), so that an hour-long publish
 * never stops parsing. Within a lane parents come before children: they are few, and each ends somebody's wait.
 */
export function lanesOf(config: Pick<Config, 'workerConcurrency' | 'workerConcurrencyParse' | 'workerConcurrencyCitations' | 'workerConcurrencyPublish'>, queues: readonly QueueDefinition[]): Lane[] {
  const own: Partial<Record<Capability, number | undefined>> = {
    parse: config.workerConcurrencyParse, citations: config.workerConcurrencyCitations, publish: config.workerConcurrencyPublish,
  };
  const parentsFirst = [...queues].sort((a, b) => Number(Boolean(b.children)) - Number(Boolean(a.children)));
  const split = (Object.keys(own) as Capability[]).filter((capability) => own[capability] !== undefined)
    .map((capability) => ({ slots: own[capability]!, queues: parentsFirst.filter((queue) => queue.capability === capability) }));
  const shared = { slots: config.workerConcurrency, queues: parentsFirst.filter((queue) => own[queue.capability] === undefined) };
  return [...split, shared].filter((lane) => lane.queues.length > 0);
}

export function laneOf(lanes: readonly Lane[], queue: string): Lane {
  const lane = lanes.find((candidate) => candidate.queues.some((known) => known.table === queue));
  if (!lane) throw new Error(`expected a lane for ${queue}, got none`);
  return lane;
}

/** Which slots are taken, a handler a slot: also by a handler that does not heed its abort, until it returns. */
export class Slots {
  private readonly busy = new Map<Lane, number>();

  /** @param waiting leases of a queue that are held without a slot: ends that are not written yet, rows that have not started. */
  constructor(readonly lanes: readonly Lane[], private readonly waiting: (queue: string) => number) {}

  /** How many more rows may be held without holding more than there are slots; negative while rows are claimed ahead (ahead.ts). */
  free(queue: string): number {
    const lane = laneOf(this.lanes, queue);
    return this.idle(lane) - lane.queues.reduce((sum, one) => sum + this.waiting(one.table), 0);
  }

  /** Slots without a handler. */
  idle(lane: Lane): number {
    return lane.slots - (this.busy.get(lane) ?? 0);
  }

  /** @returns what gives the slot back. */
  take(queue: string): () => void {
    const lane = laneOf(this.lanes, queue);
    this.busy.set(lane, (this.busy.get(lane) ?? 0) + 1);
    return () => void this.busy.set(lane, this.busy.get(lane)! - 1);
  }
}
