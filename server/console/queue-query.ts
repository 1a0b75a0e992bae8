import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { LeasedState, QueueDefinition } from '../lease/queues.js';
import { isHeld, wordsOfQueue } from '../lease/words.js';
import type { QueueFilters } from './queue-filters.js';
import { uuidFloor } from './read.js';
import { tableOf } from './row-select.js';

export type Direction = 'older' | 'newer';

/** Ids are made by the process that enqueues, ages by the database: let their clocks differ by this much (milliseconds). */
const CLOCK_SLACK_MS = 10 * 60_000;

/**
 * Ids of the rows that match, nearest to the cursor first. One index range a state, joined by UNION ALL: with `state = any(…)`
 * a deep cursor walks the whole history (measured: 269 ms against 0.23 at 5 million rows).
 */
export function matchingIds(queue: QueueDefinition, filters: QueueFilters, asOf: number, limit: number, direction: Direction = 'older') {
  const order = sql.raw(direction === 'older' ? 'desc' : 'asc');
  const branches = branchesOf(queue, filters).map(
    (condition) => sql`(select r.id from ${tableOf(queue)} r where ${and([condition, ...shared(queue, filters, asOf)])}
      order by r.id ${order} limit ${sql.lit(limit)})`,
  );
  if (branches.length === 0) return sql<{ id: string }>`select null::uuid as id where false`;
  return sql<{ id: string }>`select id from (${sql.join(branches, sql` union all `)}) b order by id ${order} limit ${sql.lit(limit)}`;
}

/** The same, for counting: no order, stops at the cap. */
export function matchingCount(queue: QueueDefinition, filters: QueueFilters, asOf: number, cap: number) {
  const everywhere = { ...filters, before: null, after: null };
  const branches = branchesOf(queue, filters).map(
    (condition) => sql`(select 1 from ${tableOf(queue)} r where ${and([condition, ...shared(queue, everywhere, asOf)])} limit ${sql.lit(cap)})`,
  );
  if (branches.length === 0) return sql<{ n: number }>`select 0 as n`;
  return sql<{ n: number }>`select count(*)::int as n from (select 1 from (${sql.join(branches, sql` union all `)}) b limit ${sql.lit(cap)}) c`;
}

/** One condition a state, written as a literal so that the planner can prove the partial index. */
function branchesOf(queue: QueueDefinition, filters: QueueFilters): RawBuilder<unknown>[] {
  const states = statesOf(queue, filters);
  if (states === 'any') return [sql`true`];
  const branches = states.map((state) => sql`r.state = ${sql.lit(state)}`);
  const held = wordsOfQueue(queue).held as LeasedState;
  const staleOnly = filters.states.includes('stale') && !filters.states.includes(held);
  return staleOnly ? [...branches, sql`${sql.raw(isHeld(queue, 'r'))} and r.lease_expires_at < now()`] : branches;
}

function statesOf(queue: QueueDefinition, filters: QueueFilters): LeasedState[] | 'any' {
  const heldOnly = filters.worker !== null || filters.version !== null;
  const { held, done } = wordsOfQueue(queue) as { held: LeasedState; done: LeasedState };
  const asked = filters.states.filter((state): state is LeasedState => state !== 'stale');
  if (filters.states.length > 0) return asked.filter((state) => queue.states.includes(state) && (!heldOnly || state === held));
  if (heldOnly) return [held];
  return filters.error === null ? 'any' : queue.states.filter((state) => state !== done);
}

function shared(queue: QueueDefinition, filters: QueueFilters, asOf: number): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = [];
  if (filters.before) conditions.push(sql`r.id < ${filters.before}::uuid`);
  if (filters.after) conditions.push(sql`r.id > ${filters.after}::uuid`);
  if (filters.user) conditions.push(sql`r.user_id = ${filters.user}`);
  if (filters.session) conditions.push(queue.listColumns.includes('session_id') ? sql`r.session_id = ${filters.session}` : sql`false`);
  if (filters.error) conditions.push(sql`r.error_code = ${filters.error}`);
  if (filters.worker) conditions.push(sql`(r.worker_id = ${filters.worker} or r.worker_id in (select id from workers where label = ${filters.worker}))`);
  if (filters.version) conditions.push(sql`r.worker_id in (select id from workers where version = ${filters.version})`);
  return [...conditions, ...ages(filters, asOf)];
}

/** The id bound lets the primary key skip what is too young or too old; created_at then decides exactly. */
function ages(filters: QueueFilters, asOf: number): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = [];
  if (filters.older !== null) {
    conditions.push(sql`r.id < ${uuidFloor(asOf - filters.older * 1000 + CLOCK_SLACK_MS)}::uuid`);
    conditions.push(sql`r.created_at <= now() - make_interval(secs => ${filters.older})`);
  }
  if (filters.newer !== null) {
    conditions.push(sql`r.id >= ${uuidFloor(asOf - filters.newer * 1000 - CLOCK_SLACK_MS)}::uuid`);
    conditions.push(sql`r.created_at >= now() - make_interval(secs => ${filters.newer})`);
  }
  return conditions;
}

function and(conditions: RawBuilder<unknown>[]) {
  return sql.join(conditions, sql` and `);
}
