import type { Queryable } from './pump.js';
import { queues } from './queues.js';
import { isHeld } from './words.js';

/**
 * SQL condition: redeploy `r` overlaps the time of row `j` from its creation to its end, so the row survived it (protocol, Events). Both are
 * aliases from the code, never from outside.
 */
export function survived(r: string, j: string): string {
  return `${r}.started_at < coalesce(${j}.finished_at, now()) and (${r}.ended_at is null or ${r}.ended_at > ${j}.created_at)`;
}

/** SQL condition: process `w` is one of redeploy `r`'s side of the fleet. A web process takes its inline worker with it. */
export function sameSide(w: string, r: string): string {
  return `(${w}.role = ${r}.role or (${w}.role = 'inline' and ${r}.role = 'web'))`;
}

/** Part of the sweep: a redeploy ends when the old version neither beats nor holds a lease. @returns how many ended. */
export async function endRedeploys(tx: Queryable, registry = queues): Promise<number> {
  const holds = registry.map((queue) => `select worker_id from ${queue.table} where ${isHeld(queue)}`).join(' union all ');
  const { rowCount } = await tx.query({
    text: `update redeploys r set ended_at = now()
            where r.ended_at is null
              and not exists (select 1 from workers w where ${sameSide('w', 'r')} and w.version = r.from_version and w.stopped_at is null and w.gone_at is null)
              and not exists (select 1 from workers w where ${sameSide('w', 'r')} and w.version = r.from_version and w.id in (${holds}))`,
  });
  return rowCount ?? 0;
}
