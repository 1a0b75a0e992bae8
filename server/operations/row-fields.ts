import { z } from 'zod';
import { queueBySlug, queueByTable, type QueueDefinition } from '../lease/queues.js';
import type { Target } from './action.js';

/** A queue by its slug or its table; anything else is refused before SQL is thought of. */
const queue = z.string().transform((name, context): QueueDefinition => {
  const found = queueBySlug(name) ?? queueByTable(name);
  if (found) return found;
  context.addIssue({ code: 'custom', message: 'there is no queue of this name' });
  return z.NEVER;
});

const id = z.uuid().toLowerCase();

/** A row, as the page that shows it names it. */
export const rowFields = z.object({ queue, id });
/** A row under the lease that the operator saw. The token is a bigint in decimal text. */
export const leasedRowFields = z.object({ queue, id, token: z.string().regex(/^\d{1,19}$/, 'expected the number of the lease that was shown') });
export const queueFields = z.object({ queue });

export function rowTarget({ queue: { table }, id: rowId }: { queue: QueueDefinition; id: string }): Target {
  return { kind: 'row', id: rowId, queue: table, rowId };
}
