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

/** In the order in which people read them: a parent before its children (the registry, for its locks, has them the other way round). */
export function queuesInOrder(): QueueDefinition[] {
  const roots = queues.filter((queue) => !queue.parent);
  return roots.flatMap((root) => [root, ...queues.filter((queue) => queue.parent?.queue === root.table)]);
}
