import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { DB } from '../db/generated.js';
import { queueBySlug, queueByTable } from '../lease/queues.js';
import type { AuditFilters } from './audit-filters.js';
import { COUNT_CAP } from './queue-page.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** What is in a snapshot: states, tokens, counts and ids; no text (server/operations/action.ts). */
export type AuditSnapshot = Record<string, string | number | boolean | null>;

/** One attempt, as it was recorded with its effect, or alone when it was refused. */
export interface AuditEntry {
  id: string;
  /** Milliseconds since 1970, database clock. */
  at: number;
  actor: string;
  actorKind: string;
  actorRole: string;
  via: string;
  bulkId: string | null;
  action: string;
  targetKind: string;
  targetId: string;
  /** Slug of the queue, for a row or a queue. */
  queue: string | null;
  rowId: string | null;
  userId: string | null;
  sessionId: string | null;
  reason: string | null;
  outcome: 'applied' | 'refused';
  refusal: string | null;
  answer: string;
  before: AuditSnapshot | null;
  after: AuditSnapshot | null;
}

export interface AuditPage extends Stamp {
  entries: AuditEntry[];
  next: string | null;
  previous: string | null;
  /** Entries that match, capped at COUNT_CAP. */
  matching: number;
  /** Whether nothing at all was ever recorded. */
  empty: boolean;
}

const PAGE = 50;
/** A page that waits behind its pill asks for no more than this. */
const FRESH_CAP = 51;

/** One page, newest first. Own read-only transaction. @throws ReadTimeoutError */
export function readAudit(kysely: Kysely<DB>, filters: AuditFilters): Promise<AuditPage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const backwards = filters.after !== null;
    const found = await selectEntries(reader, filters, PAGE + 1, backwards ? 'asc' : 'desc');
    const more = found.length > PAGE;
    const entries = found.slice(0, PAGE);
    if (backwards) entries.reverse();
    const first = entries[0]?.id ?? null;
    const last = entries.at(-1)?.id ?? null;
    return {
      ...stamp, entries, next: backwards || more ? last : null, previous: backwards ? (more ? first : null) : filters.before && first,
      matching: await countOf(reader, filters), empty: entries.length === 0 && (await isEmpty(reader)),
    };
  });
}

/** Ids of entries newer than `after` that match, oldest first and capped: what waits behind the pill. @throws ReadTimeoutError */
export function readFreshAudit(kysely: Kysely<DB>, filters: AuditFilters, after: string): Promise<string[]> {
  return readOnly(kysely, async (reader) => {
    const { rows } = await sql<{ id: string }>`select id::text as id from operator_actions o where ${where({ ...filters, before: null, after })} order by id limit ${sql.lit(FRESH_CAP)}`.execute(reader);
    return rows.map((row) => row.id);
  });
}

/** Of one row's timeline, newest first. */
export function selectRowActions(reader: Reader, rowId: string, limit: number): Promise<AuditEntry[]> {
  return select(reader, sql`o.row_id = ${rowId}::uuid`, limit, 'desc');
}

/** For the page and the export. */
export function selectEntries(reader: Reader, filters: AuditFilters, limit: number, order: 'asc' | 'desc' = 'desc'): Promise<AuditEntry[]> {
  return select(reader, where(filters), limit, order);
}

async function select(reader: Reader, condition: RawBuilder<unknown>, limit: number, order: 'asc' | 'desc'): Promise<AuditEntry[]> {
  const { rows } = await sql<AuditEntry>`
    select o.id::text as id, ${ms('o.at')} as at, o.actor_name as actor, o.actor_kind as "actorKind", o.actor_role as "actorRole", o.via, o.bulk_id as "bulkId", o.action,
      o.target_kind as "targetKind", o.target_id as "targetId", o.queue, o.row_id as "rowId", o.user_id as "userId", o.session_id as "sessionId",
      o.reason, o.outcome, o.refusal, o.answer, o.before, o.after
    from operator_actions o where ${condition} order by o.id ${sql.raw(order)} limit ${sql.lit(limit)}`.execute(reader);
  return rows.map((row) => ({ ...row, queue: row.queue === null ? null : (queueByTable(row.queue)?.slug ?? null) }));
}

async function countOf(reader: Reader, filters: AuditFilters): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from (
    select 1 from operator_actions o where ${where({ ...filters, before: null, after: null })} limit ${sql.lit(COUNT_CAP)}) c`.execute(reader);
  return rows[0]!.n;
}

async function isEmpty(reader: Reader): Promise<boolean> {
  return (await sql`select 1 from operator_actions limit 1`.execute(reader)).rows.length === 0;
}

function where(filters: AuditFilters): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  for (const [name, column] of [['actor', 'actor_name'], ['action', 'action'], ['outcome', 'outcome'], ['target', 'target_id']] as const) {
    if (filters[name] !== null) conditions.push(sql`o.${sql.raw(column)} = ${filters[name]}`);
  }
  if (filters.queue !== null) conditions.push(sql`o.queue = ${queueBySlug(filters.queue)!.table}`);
  if (filters.bulk !== null) conditions.push(sql`o.bulk_id = ${filters.bulk}::uuid`);
  if (filters.from !== null) conditions.push(sql`o.at >= to_timestamp(${filters.from / 1000}::float8)`);
  if (filters.to !== null) conditions.push(sql`o.at < to_timestamp(${filters.to / 1000}::float8)`);
  if (filters.before !== null) conditions.push(sql`o.id < ${filters.before}::bigint`);
  if (filters.after !== null) conditions.push(sql`o.id > ${filters.after}::bigint`);
  return sql.join(conditions, sql` and `);
}
