/** A queue with the shape of the real ones (same columns, constraints and indexes, no payload), for measurements alone. */
import { v7 as uuidv7 } from 'uuid';
import type { QueueDefinition } from '../server/lease/queues.js';
import type { BenchServer } from './server.js';

export const benchQueue: QueueDefinition = {
  table: 'bench_rows', slug: 'bench-rows', title: 'Bench rows', noun: 'bench row', purpose: 'Measured.',
  states: ['queued', 'running', 'succeeded', 'failed', 'cancelled'], capability: 'parse', kinds: { noop: 1 },
  erased: [], claimColumns: ['user_id'], listColumns: [],
};

const CREATE = `
  create table if not exists bench_rows (
    id uuid primary key, user_id text not null, kind text not null default 'noop', schema_version integer not null default 1,
    state text not null constraint bench_rows_state check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    lease_token bigint not null default 0, attempt integer not null default 0, max_attempts integer not null default 3,
    lost_leases integer not null default 0, run_after timestamptz not null default now(), queued_at timestamptz not null default now(),
    claimed_at timestamptz, heartbeat_at timestamptz, lease_expires_at timestamptz, worker_id text, done integer, total integer,
    progressed_at timestamptz, error_code text, error_message text, created_at timestamptz not null default now(), finished_at timestamptz,
    version bigint not null default 1,
    constraint bench_rows_running_is_held check (
      num_nonnulls(worker_id, heartbeat_at, lease_expires_at) = case when state = 'running' then 3 else 0 end and (state <> 'running' or lease_token > 0)),
    constraint bench_rows_terminal_is_finished check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
  ) with (fillfactor = 50);
  create index if not exists bench_rows_claimable on bench_rows (run_after, id) where state = 'queued';
  create index if not exists bench_rows_held on bench_rows (id) where state = 'running';
  create index if not exists bench_rows_unsuccessful on bench_rows (state, id) where state in ('failed', 'cancelled');`;

export async function resetOurs({ pool }: BenchServer, jobs: number): Promise<void> {
  await pool.query(CREATE);
  await pool.query('truncate bench_rows, queue_events, workers, redeploys');
  const ids = Array.from({ length: jobs }, () => uuidv7());
  // Each has come at its own moment, as enqueue() has it.
  await pool.query(`insert into bench_rows (id, user_id, state, run_after) select id, 'u', 'queued', clock_timestamp() - interval '1 minute' from unnest($1::uuid[]) as t(id)`, [ids]);
  await pool.query('vacuum analyze bench_rows');
}
