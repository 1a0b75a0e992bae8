/**
 * What a beat costs Postgres: the engine's own statement (server/lease/renew.ts) over many held rows of many processes, on the real table as it is
 * migrated, and beside it on the same table with its expiry indexed, which is the obvious thing to do for a sweep. Counts and bytes: a busy machine
 * changes neither.
 *
 * Bars: at least 99 of 100 beats are HOT, at most a quarter of the indexed table's WAL (prototype: 166 against 748 bytes a row), no notification.
 */
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { loadConfig } from '../server/config.js';
import { acquire } from '../server/lease/acquire.js';
import type { Lease } from '../server/lease/lease.js';
import { parseItems, type QueueDefinition } from '../server/lease/queues.js';
import { renew } from '../server/lease/renew.js';
import { atLeast, atMost, goalTable, median, spread, table, type Report } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const PROCESSES = 100;
const SLOTS = 24;
const BEATS = 10;
const ROWS = PROCESSES * SLOTS;
const LEASE_SECONDS = 120;

const ours: QueueDefinition = { ...parseItems, table: 'beaten_rows', parent: undefined, staged: undefined };
const indexed: QueueDefinition = { ...ours, table: 'beaten_rows_indexed' };

interface Measured { hot: number; walBytes: number }

export async function run(): Promise<Report> {
  const server = await startBenchServer();
  const measured = new Map<QueueDefinition, Measured[]>([[ours, []], [indexed, []]]);
  try {
    // The image of a page that is written after each checkpoint would depend on when the last one was; both go without.
    await server.pool.query('alter system set full_page_writes = off');
    await server.pool.query('select pg_reload_conf()');
    const ear = await listen(server);
    const leases = new Map([[ours, await held(server, ours)], [indexed, await held(server, indexed, 'lease_expires_at')]]);
    ear.forget();
    const beating = await beatConnection(server);
    for (let round = 0; round < ROUNDS; round++) {
      for (const queue of round % 2 === 0 ? [ours, indexed] : [indexed, ours]) measured.get(queue)!.push(await measure(server, beating, queue, leases.get(queue)!));
    }
    await beating.end();
    return report(measured, await ear.heard());
  } finally {
    await server.stop();
  }
}

/** The rows of each process, acquired by the engine. */
async function held({ pool }: BenchServer, queue: QueueDefinition, index?: string): Promise<Lease[][]> {
  await pool.query(`create table ${queue.table} (like parse_items including all)`);
  const { rows } = await pool.query<{ options: string }>(`select array_to_string(reloptions, ', ') as options from pg_class where oid = 'parse_items'::regclass`);
  await pool.query(`alter table ${queue.table} set (${rows[0]!.options})`);
  if (index) await pool.query(`create index on ${queue.table} (${index})`);
  await pool.query(
    `insert into ${queue.table} (id, job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, state)
     select id, id, 'u', 's', 'paper.pdf', 64, '\\x00', '\\x00', 'queued' from unnest($1::uuid[]) as t(id)`, [Array.from({ length: ROWS }, () => uuidv7())]);
  const processes: Lease[][] = [];
  for (let n = 0; n < PROCESSES; n++) processes.push(await acquire(pool, queue, { workerId: `w-${n}`, version: 'bench', leaseSeconds: LEASE_SECONDS }, SLOTS, [queue]));
  return processes;
}

/** As a process sets up its own: server/worker/process.ts. */
async function beatConnection({ url }: BenchServer): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('set synchronous_commit = off; set jit = off; set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off');
  return client;
}

async function measure({ pool }: BenchServer, client: pg.Client, queue: QueueDefinition, processes: Lease[][]): Promise<Measured> {
  await pool.query(`vacuum analyze ${queue.table}`);
  await beatAll(client, queue, processes); // rows find their places after the vacuum
  const before = await counters(client, queue);
  for (let n = 0; n < BEATS; n++) await beatAll(client, queue, processes);
  const after = await counters(client, queue);
  const updates = after.updated - before.updated;
  if (updates !== BEATS * ROWS) throw new Error(`expected ${BEATS * ROWS} beats, Postgres counted ${updates}`);
  return { hot: (after.hot - before.hot) / updates, walBytes: (after.wal - before.wal) / updates };
}

async function beatAll(client: pg.Client, queue: QueueDefinition, processes: Lease[][]): Promise<void> {
  for (const leases of processes) await renew(client, leases.map(({ id, token }) => ({ queue: queue.table, id, token })), LEASE_SECONDS, [queue]);
}

/** A session reports what it counted when it is told to, after the statement that told it. */
async function counters(client: pg.Client, { table: name }: QueueDefinition): Promise<{ updated: number; hot: number; wal: number }> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(
    `select n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as hot, (pg_current_wal_insert_lsn() - '0/0')::float8 as wal from pg_stat_user_tables where relname = $1`, [name]);
  return rows[0];
}

/** Hears the channels that the processes hear. */
async function listen({ url }: BenchServer): Promise<{ forget(): void; heard(): Promise<number> }> {
  const { rowsChannel, kickChannel } = loadConfig({});
  const client = new pg.Client(url);
  await client.connect();
  let count = 0;
  client.on('notification', ({ payload }) => { if (payload !== 'the last') count += 1; });
  await client.query(`listen ${client.escapeIdentifier(rowsChannel)}; listen ${client.escapeIdentifier(kickChannel)}`);
  return {
    forget: () => { count = 0; },
    /** How many before one of its own on each channel: they arrive in the order of their commits. */
    async heard() {
      const last = new Set([rowsChannel, kickChannel]);
      const all = new Promise<void>((resolve) => client.on('notification', ({ channel, payload }) => { if (payload === 'the last' && last.delete(channel) && last.size === 0) resolve(); }));
      await client.query(`select pg_notify($1, 'the last'), pg_notify($2, 'the last')`, [rowsChannel, kickChannel]);
      await all;
      await client.end();
      return count;
    },
  };
}

function report(measured: Map<QueueDefinition, Measured[]>, notifications: number): Report {
  const of = (queue: QueueDefinition, figure: keyof Measured) => measured.get(queue)!.map((one) => one[figure]);
  const ratio = median(of(ours, 'walBytes').map((bytes, round) => bytes / of(indexed, 'walBytes')[round]!));
  const goals = [
    atLeast('share of the beats that are HOT', median(of(ours, 'hot')), 0.99),
    atMost('WAL of a beat against the same with the expiry indexed', ratio, 0.25),
    atMost('notifications of all beats', notifications, 0),
  ];
  const row = (name: string, queue: QueueDefinition) =>
    [name, median(of(queue, 'hot')).toFixed(4), median(of(queue, 'walBytes')).toFixed(0), `±${(spread(of(queue, 'walBytes')) * 100).toFixed(1)} %`];
  const text = [
    `${ROWS} held rows of ${PROCESSES} processes, ${BEATS} beats of each a round, ${ROUNDS} interleaved rounds; WAL without images of whole pages`, '',
    table(['', 'HOT (median)', 'WAL bytes/row', 'spread'], [row('as migrated', ours), row('expiry indexed', indexed)]), '', goalTable(goals),
  ].join('\n');
  return { name: 'beats', text, figures: { asMigrated: measured.get(ours), indexed: measured.get(indexed), notifications }, goals };
}
