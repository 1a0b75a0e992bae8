/** What the database says of the work, in one place: rows, their events, and whether every upload came to exactly one good end. */
import type pg from 'pg';
import { expect } from 'vitest';
import type { Config } from '../../server/config.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { until } from '../support/until.js';

export interface ItemRow {
  state: string;
  token: string;
  attempt: number;
  lostLeases: number;
  workerId: string | null;
  heartbeat: string | null;
  errorCode: string | null;
  hasBytes: boolean;
  documentId: string | null;
  version: string;
}

export async function itemRow(pool: pg.Pool, id: string): Promise<ItemRow> {
  const { rows } = await pool.query<ItemRow>(`
    select state, lease_token::text as token, attempt, lost_leases as "lostLeases", worker_id as "workerId", heartbeat_at::text as heartbeat,
           error_code as "errorCode", file_bytes is not null as "hasBytes", document_id as "documentId", version::text
      from parse_items where id = $1`, [id]);
  return rows[0]!;
}

export function untilItem(pool: pg.Pool, id: string, wanted: (row: ItemRow) => boolean, what: string, timeoutMs = 60_000): Promise<ItemRow> {
  return until(async () => {
    const row = await itemRow(pool, id);
    return wanted(row) && row;
  }, { timeoutMs, what });
}

export function untilHeldBy(pool: pg.Pool, id: string, workerId: string): Promise<ItemRow> {
  return untilItem(pool, id, (row) => row.workerId === workerId, `${id} held by ${workerId}`);
}

/** Causes of an item's transitions, in order. */
export async function causesOf(pool: pg.Pool, id: string): Promise<string[]> {
  const { rows } = await pool.query<{ cause: string }>(`select cause from queue_events where row_id = $1 order by id`, [id]);
  return rows.map((row) => row.cause);
}

/** Milliseconds on the database's clock from the last event `from` of an item to the first `to` after it. */
export async function msBetween(pool: pg.Pool, id: string, from: string, to: string): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(`
    with a as (select id, at from queue_events where row_id = $1 and cause = $2 order by id desc limit 1)
    select extract(epoch from b.at - a.at)::float8 * 1000 as ms from a join queue_events b on b.row_id = $1 and b.cause = $3 and b.id > a.id order by b.id limit 1`, [id, from, to]);
  return rows[0]!.ms;
}

/** The lease of a process that is dead runs out now instead of in a few seconds. */
export async function ageLease(pool: pg.Pool, id: string): Promise<void> {
  await pool.query(`update parse_items set lease_expires_at = now() - interval '1 second' where id = $1 and state = 'running'`, [id]);
}

/** Every item of these jobs succeeded exactly once, with one document each, and the jobs too; nothing is broken. */
export async function expectAllDoneOnce(pool: pg.Pool, jobIds: string[], config: Config): Promise<void> {
  const { rows } = await pool.query(`
    select i.filename, i.state, i.error_code,
           (select count(*)::int from queue_events e where e.row_id = i.id and e.to_state = 'succeeded') as succeeded,
           (select count(*)::int from documents d where d.user_id = i.user_id and d.content_sha256 = i.content_sha256) as documents,
           (select count(*)::int from document_chunks c where c.document_id = i.document_id and c.embedding is null) as without_embedding
      from parse_items i where i.job_id = any ($1::uuid[]) order by i.filename`, [jobIds]);
  expect(rows).toEqual(rows.map(({ filename }) => ({ filename, state: 'succeeded', error_code: null, succeeded: 1, documents: 1, without_embedding: 0 })));
  expect(rows.length).toBeGreaterThanOrEqual(jobIds.length);
  await expectNothingBroken(pool, config);
}

export async function expectNothingBroken(pool: pg.Pool, config: Config): Promise<void> {
  expect(await checkInvariants(pool, config)).toEqual([]);
}
