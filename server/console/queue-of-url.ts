import type { QueueDefinition } from '../lease/queues.js';
import { queueBySlug, queues } from '../lease/queues.js';

/** The queue that a URL names, or undefined: nothing outside the registry is ever asked for. */
export function queueOfUrl(slug: string | undefined): QueueDefinition | undefined {
  return slug === undefined ? undefined : queueBySlug(slug);
}

/** The queue nearest to the work, where a URL names none. */
export function firstQueue(): QueueDefinition {
  return queues[0]!;
}
