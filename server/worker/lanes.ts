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
