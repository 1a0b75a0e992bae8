import { sql } from 'kysely';
import { REVEAL_MINUTES } from '../operations/reveal-text.js';
import type { Reader } from './read.js';

/** Who reads. Text of theses, references and sources is masked for everyone until they reveal it. */
export interface TextReader {
  id: string;
  role: string;
}

/** Whether this role may reveal text at all. Whoever is not named here may not. */
export function mayRevealText(role: string): boolean {
  return role === 'operator' || role === 'admin';
}

/**
 * Whether this person has revealed this report within the last REVEAL_MINUTES (database clock), and when that ends (ms since 1970); null when
 * not. The audited reveal is the only permission: a role that may not reveal any more sees nothing of an earlier one.
 */
export async function readReveal(reader: Reader, { id, role }: TextReader, reportId: string): Promise<{ until: number } | null> {
  if (!mayRevealText(role)) return null;
  const { rows } = await sql<{ until: number }>`
    select extract(epoch from at + make_interval(mins => ${REVEAL_MINUTES}))::float8 * 1000 as until from operator_actions
    where row_id = ${reportId}::uuid and action = 'reveal' and outcome = 'applied' and actor_id = ${id}::uuid and at > now() - make_interval(mins => ${REVEAL_MINUTES})
    order by id desc limit 1`.execute(reader);
  return rows[0] ?? null;
}
