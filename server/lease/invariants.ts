/**
 * The written invariants, checked in SQL over what is committed. Each answers the rows that break it, at most LIMIT of them; none is the
 * only good answer. One read-only snapshot for all, so that a transition in flight is never seen half.
 */
import type pg from 'pg';
import { inTransaction } from '../db/connection.js';
import { knows } from './processes.js';
import { queueByTable, queues, type QueueDefinition } from './queues.js';
import { endedStates, isHeld, isWaiting } from './words.js';

const LIMIT = 20;

export interface InvariantSettings {
  maxActiveParseJobsPerUser: number;
  maxStagedBytesPerUser: number;
  leaseSeconds: number;
  pollSeconds: number;
  sweepSeconds: number;
  maxRunningCitationsPerUser?: number;
}

export interface Broken {
  invariant: string;
  /** What should hold, as a sentence. */
  expected: string;
  rows: Record<string, unknown>[];
}

interface Invariant {
  name: string;
  expected: string;
  sql: string;
  values?: unknown[];
}

/** @returns the broken ones. Statement timeout one minute; @throws when the database cannot be read. */
export async function checkInvariants(pool: pg.Pool, settings: InvariantSettings, registry = queues): Promise<Broken[]> {
  return inTransaction(pool, async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const broken: Broken[] = [];
    for (const { name, expected, sql, values } of invariants(settings, registry)) {
      const { rows } = await tx.query(`${sql} limit ${LIMIT}`, values ?? []);
      if (rows.length > 0) broken.push({ invariant: name, expected, rows });
    }
    return broken;
  }, { timeoutMs: 60_000 });
}

function invariants(settings: InvariantSettings, registry: readonly QueueDefinition[]): Invariant[] {
  return [...registry.flatMap((queue) => queueInvariants(queue, settings, registry)), ...eventInvariants(), ...capInvariants(settings, registry)];
}

function queueInvariants(queue: QueueDefinition, settings: InvariantSettings, registry: readonly QueueDefinition[]): Invariant[] {
  const { table } = queue;
  const terminal = `state in ${endedStates(queue)}`;
  const invariants: Invariant[] = [
    queue.words ? lockInvariant(queue) : {
      name: `${table}: running is held`,
      expected: 'A row is running if and only if it has a token, a worker, a heartbeat and an expiry.',
      sql: `select id, state, lease_token::text, worker_id, heartbeat_at, lease_expires_at from ${table}
             where (state = 'running') <> (worker_id is not null and heartbeat_at is not null and lease_expires_at is not null)
                or (state = 'running' and lease_token < 1)`,
    },
    {
      name: `${table}: terminal is finished`,
      expected: 'A terminal row has finished_at, no lease columns and no bytes.',
      sql: `select id, state, finished_at, worker_id from ${table}
             where ${terminal} <> (finished_at is not null)
                or (${terminal} and (worker_id is not null or heartbeat_at is not null or lease_expires_at is not null
                    ${queue.erased.map((column) => `or ${column} is not null`).join(' ')}))`,
    },
    {
      name: `${table}: tries are counted`,
      expected: 'attempt never passes max_attempts.',
      sql: `select id, attempt, max_attempts from ${table} where attempt > max_attempts`,
    },
    waitingInvariant(queue, settings, registry),
  ];
  if (queue.staged) invariants.push({
    name: `${table}: open is staged`,
    expected: 'A row that has not ended still has its staged bytes.',
    sql: `select id, state from ${table} where not ${terminal} and ${queue.staged.bytesColumn} is null`,
  });
  const childQueue = queue.children && queueByTable(queue.children.queue, registry);
  if (queue.children && childQueue) invariants.push({
    name: `${table}: open children`,
    expected: `open_children equals the open rows of ${childQueue.table}, and only a row with open children awaits.`,
    sql: `select p.id, p.state, p.open_children, n.open from ${table} p
            join lateral (select count(*)::int as open from ${childQueue.table} c where c.${queue.children.column} = p.id and c.finished_at is null) n on true
           where p.open_children <> n.open or (p.state = 'awaiting') <> (n.open > 0)`,
  });
  return invariants;
}

/** A lock that is taken has a last beat; a worker and an expiry only together, and only while it is taken. */
function lockInvariant({ table, words }: QueueDefinition): Invariant {
  return {
    name: `${table}: ${words!.held} beats`,
    expected: `A row is ${words!.held} if and only if it has a last beat; it has a worker, a token and an expiry together or none of them.`,
    sql: `select id, state, lease_token::text, worker_id, heartbeat_at, lease_expires_at from ${table}
           where (state = '${words!.held}') <> (heartbeat_at is not null)
              or (worker_id is not null) <> (lease_expires_at is not null)
              or (worker_id is not null and (state <> '${words!.held}' or lease_token < 1))`,
  };
}

/** A worker polls, sweeps and claims: whatever is claimable for longer than all that together, while a slot is free, has been forgotten. */
function waitingInvariant(queue: QueueDefinition, settings: InvariantSettings, registry: readonly QueueDefinition[]): Invariant {
  const held = registry.map((one) => `select worker_id from ${one.table} where ${isHeld(one)}`).join(' union all '); // slots are shared between queues
  return {
    name: `${queue.table}: nothing waits beside a free slot`,
    expected: 'No claimable row is older than poll + lease + sweep while a worker that can take it has a free slot.',
    sql: `select q.id, q.run_after, q.queued_at from ${queue.table} q
           where ${isWaiting(queue, 'q')}
             and greatest(q.run_after, q.queued_at) < now() - ($1::double precision + $2 + $3) * interval '1 second'
             and not exists (select 1 from queue_pauses where queue = '${queue.table}')
             and not exists (select 1 from breakers where queue = '${queue.table}')
             ${queue.sharedBy ? `and (select count(*) from ${queue.table} h where h.state = 'running' and h.${queue.sharedBy} = q.${queue.sharedBy}) < coalesce($4::int, 2147483647)` : ''}
             and exists (select 1 from workers w
                          where w.stopped_at is null and w.gone_at is null and w.draining_since is null and ${knows(queue, 'w', 'q')}
                            and w.started_at < now() - ($1::double precision + $2 + $3) * interval '1 second'
                            and w.slots > (select count(*) from (${held}) h where h.worker_id = w.id))`,
    values: [settings.pollSeconds, settings.leaseSeconds, settings.sweepSeconds, ...(queue.sharedBy ? [settings.maxRunningCitationsPerUser] : [])],
  };
}

function eventInvariants(): Invariant[] {
  return [
    {
      name: 'queue_events: a token has one holder',
      expected: 'No lease token of a row was acquired twice.',
      sql: `select queue, row_id, lease_token::text, count(*)::int as acquired from queue_events where cause = 'acquire'
             group by queue, row_id, lease_token having count(*) > 1`,
    },
    {
      name: 'queue_events: a row ends once',
      expected: 'Between two enqueues or re-kicks a row becomes terminal once.',
      sql: `select queue, row_id, count(*)::int as ends from queue_events
             where to_state in ('succeeded', 'failed', 'cancelled') and (from_state is null or from_state not in ('succeeded', 'failed', 'cancelled'))
             group by queue, row_id
            having count(*) > 1 + (select count(*) from queue_events r where r.queue = queue_events.queue and r.row_id = queue_events.row_id and r.cause in ('rekick', 'publish', 'reclaim'))`,
    },
  ];
}

function capInvariants(settings: InvariantSettings, registry: readonly QueueDefinition[]): Invariant[] {
  if (!queueByTable('parse_jobs', registry)) return [];
  return [
    {
      name: 'parse_jobs: active jobs per user',
      expected: `No user has more than ${settings.maxActiveParseJobsPerUser} open parse jobs.`,
      sql: `select user_id, count(*)::int as open from parse_jobs where state in ('awaiting', 'queued', 'running') group by user_id having count(*) > $1`,
      values: [settings.maxActiveParseJobsPerUser],
    },
    {
      name: 'parse_items: staged bytes per user',
      expected: `No user has more than ${settings.maxStagedBytesPerUser} bytes staged.`,
      sql: `select user_id, sum(byte_size)::text as staged from parse_items where state in ('queued', 'running') group by user_id having sum(byte_size) > $1`,
      values: [settings.maxStagedBytesPerUser],
    },
  ];
}
