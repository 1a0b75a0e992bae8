/**
 * A redeploy acted out with the engine's own statements, and counted twice: by the page, and here from the bare events, lease by lease,
 * without any of the page's SQL.
 */
import { Readable } from 'node:stream';
import { Kysely, PostgresDialect } from 'kysely';
import { beforeEach, beforeAll, expect, test } from 'vitest';
import type { DB } from '../../server/db/generated.js';
import { createKysely } from '../../server/db/kysely.js';
import { acquire } from '../../server/lease/acquire.js';
import { markStopped, registerProcess, startShutdownDrain, type ProcessIdentity } from '../../server/lease/processes.js';
import { parseItems } from '../../server/lease/queues.js';
import { endRedeploys } from '../../server/lease/redeploys.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { orderDrain, orderResume } from '../../server/lease/worker-orders.js';
import { parseFateFilter, readRedeployPage } from '../../server/console/redeploy.js';
import { parseRedeployFilters, readRedeploys } from '../../server/console/redeploys.js';
import { exportRedeploys } from '../../server/console/redeploys-export.js';
import { readFleet } from '../../server/console/now-fleet.js';
import { readDrainBoards } from '../../server/console/redeploy-board.js';
import { readOnly } from '../../server/console/read.js';
import type { Lease } from '../../server/lease/lease.js';
import { rolloutWords } from '~/format/fleet-words';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { age, clear, newJob, sweepOptions } from '../lease/world.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});
beforeEach(async () => {
  await clear(database.pool);
  await database.pool.query('truncate workers, redeploys, queue_minutes');
});

const identity = (id: string, version: string, more: Partial<ProcessIdentity> = {}): ProcessIdentity =>
  ({ id, label: id, role: 'worker', version, host: 'test', pid: 1, capabilities: ['parse'], kinds: { parse_items: { pdf: 1 }, parse_jobs: { parse_job: 1 } }, slots: 8, heartbeatSeconds: 30, ...more });
const holder = (id: string, version: string) => ({ workerId: id, version, leaseSeconds: 60 });
const end = (by: { workerId: string; version: string; leaseSeconds: number }, leases: Lease[], verb: 'succeed' | 'drain') =>
  settle(database.pool, parseItems, by, leases.map(({ id, token }) => ({ id, token, verb })));
const began = (id: string, secondsAgo: number) => database.pool.query(`update workers set started_at = now() - $1 * interval '1 second' where id = $2`, [secondsAgo, id]);

/** v1 has two workers: `clean` drains and stops, `killed` dies. v2 picks up all but one of what they leave. One lease finishes before the drain. */
async function redeploy(): Promise<string> {
  const [clean, killed, next] = [holder('clean', 'v1'), holder('killed', 'v1'), holder('next', 'v2')];
  for (const { workerId } of [clean, killed]) {
    await registerProcess(database.pool, identity(workerId, 'v1', { heartbeatSeconds: workerId === 'killed' ? 0.001 : 30 }));
    await began(workerId, 600);
  }
  await newJob(database.pool, 9);
  const [before, ...leases] = await acquire(database.pool, parseItems, clean, 6);
  const dead = await acquire(database.pool, parseItems, killed, 2);
  await registerProcess(database.pool, identity('next', 'v2'));
  await end(clean, [before!], 'succeed');
  await startShutdownDrain(database.pool, 'clean', 20);
  await end(clean, leases.slice(0, 2), 'succeed');
  await end(clean, leases.slice(2), 'drain');
  await markStopped(database.pool, 'clean');
  await database.pool.query(`update workers set heartbeat_at = clock_timestamp() where id = 'killed'`); // its last
  await age(database.pool, dead.map(({ id }) => id));
  await sweep(database.pool, sweepOptions);
  await end(killed, [dead[0]!], 'succeed'); // it was frozen, not dead: too late
  const taken = await acquire(database.pool, parseItems, next, 5);
  await end(next, taken.slice(0, 3), 'succeed');
  await endRedeploys(database.pool);
  return (await database.pool.query('select id from redeploys')).rows[0].id as string;
}

interface Raw { id: string; row_id: string; cause: string; worker_id: string | null; lease_token: string | null; at: Date; in_drain: boolean }

/** What became of each lease of the old version, read straight off the log. */
async function countByHand() {
  const { rows: events } = await database.pool.query<Raw>(   // what a date keeps of an instant is too coarse to tell what came first
    `select e.id, e.row_id, e.cause, e.worker_id, e.lease_token::text, e.at, e.at >= c.draining_since as in_drain from queue_events e, workers c where c.id = 'clean' order by e.id`);
  const { rows: [process] } = await database.pool.query<{ last_beat: Date }>(`select heartbeat_at as last_beat from workers where id = 'killed'`);
  const counts = { finished: 0, givenBack: 0, expired: 0, waiting: 0 };
  const pauses = { afterGiveBack: [] as number[], afterExpiry: [] as number[] };
  for (const acquired of events.filter(({ cause, worker_id }) => cause === 'acquire' && ['clean', 'killed'].includes(worker_id!))) {
    const ending = events.find((event) => event.row_id === acquired.row_id && event.lease_token === acquired.lease_token && !['acquire', 'late_write'].includes(event.cause))!;
    const again = events.find((event) => event.row_id === acquired.row_id && event.cause === 'acquire' && Number(event.id) > Number(ending.id));
    if (again && ending.cause === 'drain') pauses.afterGiveBack.push(again.at.getTime() - ending.at.getTime());
    if (again && ending.cause === 'sweep') pauses.afterExpiry.push(again.at.getTime() - process!.last_beat.getTime());
    if (ending.cause === 'drain') counts.givenBack += 1;
    else if (ending.cause === 'sweep') counts.expired += 1;
    else if (ending.in_drain) counts.finished += 1;
    if (['drain', 'sweep'].includes(ending.cause) && !again) counts.waiting += 1;
  }
  return { counts: { ...counts, lateWrites: events.filter(({ cause }) => cause === 'late_write').length }, pauses };
}

test('an export counts the leases of each redeploy as its page does', async () => {
  const id = await redeploy();
  const { tally } = (await readRedeployPage(kysely, id, parseFateFilter(new URLSearchParams())))!;
  const [headings, line] = (await Readable.from(exportRedeploys(kysely, parseRedeployFilters(new URLSearchParams()), 'csv')).toArray()).join('').split('\r\n').map((text) => text.split(','));
  expect(Object.fromEntries(headings!.map((name, at) => [name, line![at]]))).toMatchObject({
    id, role: 'worker', from_version: 'v1', to_version: 'v2', outgoing: '2', incoming: '1', killed: '1', in_flight: String(tally.inFlight), finished: String(tally.finished),
    given_back: String(tally.givenBack), expired: String(tally.expired), held: '0', waiting: String(tally.waiting), late_writes: String(tally.lateWrites), lost: '0',
  });
  expect(tally.inFlight).toBeGreaterThan(5);
});

test('what became of each lease is what the events say, and nothing else is counted', async () => {
  const id = await redeploy();
  const { counts: byHand, pauses } = await countByHand();
  expect(byHand).toEqual({ finished: 2, givenBack: 3, expired: 2, waiting: 0, lateWrites: 1 });
  const page = (await readRedeployPage(kysely, id))!;
  expect(page.tally).toMatchObject({ ...byHand, inFlight: 7, held: 0, lost: 0, afterGiveBack: { rows: 3 }, afterExpiry: { rows: 2 } });
  for (const kind of ['afterGiveBack', 'afterExpiry'] as const) {
    expect(Math.abs(page.tally[kind].longest! - Math.max(...pauses[kind]))).toBeLessThan(2); // a JS date knows no microseconds
    expect(page.tally[kind].p50!).toBeLessThanOrEqual(page.tally[kind].longest!);
  }
  expect(page.processes.map(({ id: process, side, leaving, tally }) => [process, side, leaving, tally])).toEqual([
    ['clean', 'outgoing', 'clean', { finished: 2, givenBack: 3, expired: 0, held: 0, lateWrites: 0 }],
    ['killed', 'outgoing', 'killed', { finished: 0, givenBack: 0, expired: 2, held: 0, lateWrites: 1 }],
    ['next', 'incoming', 'working', { finished: 0, givenBack: 0, expired: 0, held: 0, lateWrites: 0 }],
  ]);
  expect(page.processes[0]!.drainedMs).toBeGreaterThanOrEqual(0);
  expect(page.redeploy).toMatchObject({ role: 'worker', fromVersion: 'v1', toVersion: 'v2', endedAt: expect.any(Number) });
});

test('each lease is listed with where it went, by outcome and in pages that neither repeat nor skip', async () => {
  const id = await redeploy();
  const given = (await readRedeployPage(kysely, id, parseFateFilter(new URLSearchParams('outcome=given_back'))))!;
  expect(given.fates).toHaveLength(3);
  expect(given.fates.every((fate) => fate.outcome === 'given_back' && fate.pickedUpBy === 'next' && fate.pickedUpVersion === 'v2' && fate.pickedUpMs !== null)).toBe(true);
  const all = (await readRedeployPage(kysely, id))!.fates;
  const middle = all[3]!.id;
  const rest = (await readRedeployPage(kysely, id, { outcome: null, before: middle }))!.fates;
  expect([...all.slice(0, 4), ...rest].map((fate) => fate.id)).toEqual(all.map((fate) => fate.id));
  expect((await readRedeployPage(kysely, id, { outcome: 'lost', before: null }))!.fates).toEqual([]);
});

test('a row that ended because every worker died under it is lost, and said so', async () => {
  const id = await redeploy();
  const { rows: [held] } = await database.pool.query(`select e.row_id from queue_events e join parse_items i on i.id = e.row_id where e.cause = 'sweep' and i.state = 'running' limit 1`);
  expect(held).toBeDefined();
  await database.pool.query(`update parse_items set lost_leases = 9 where id = $1`, [held.row_id]);
  await age(database.pool, [held.row_id]);
  await sweep(database.pool, sweepOptions);
  const page = (await readRedeployPage(kysely, id, { outcome: 'lost', before: null }))!;
  expect(page.tally.lost).toBe(1);
  expect(page.fates).toMatchObject([{ rowId: held.row_id, state: 'failed', errorCode: 'worker_lost', lost: true }]);
});

test('while it rolls the board counts what the old version still holds, and names what only the old version can do', async () => {
  await registerProcess(database.pool, identity('old', 'v1', { capabilities: ['parse', 'publish'] }));
  await began('old', 600);
  await newJob(database.pool, 4);
  const leases = await acquire(database.pool, parseItems, holder('old', 'v1'), 3);
  await registerProcess(database.pool, identity('new', 'v2'));
  const boards = () => readOnly(kysely, readDrainBoards);
  expect(await boards()).toMatchObject([{ oldHolds: 3, newHolds: 0, onlyOld: ['publish'], tally: { inFlight: 0, held: 0 }, redeploy: { endedAt: null } }]);
  await startShutdownDrain(database.pool, 'old', 20);
  await settle(database.pool, parseItems, holder('old', 'v1'), [{ id: leases[0]!.id, token: leases[0]!.token, verb: 'succeed' }]);
  expect(await boards()).toMatchObject([{ oldHolds: 2, onlyOld: ['publish'], tally: { inFlight: 3, finished: 1, held: 2 } }]);
  expect((await boards())[0]!.processes[0]).toMatchObject({ id: 'old', leaving: 'draining', killDeadlineAt: expect.any(Number), leases: 2 });
  await end(holder('old', 'v1'), leases.slice(1), 'drain');
  await markStopped(database.pool, 'old');
  expect(await boards()).toMatchObject([{ oldHolds: 0, onlyOld: [], tally: { inFlight: 3, finished: 1, givenBack: 2, held: 0, waiting: 2 } }]);
  await endRedeploys(database.pool);
  expect(await boards()).toEqual([]);
});

test('a worker that an operator drained neither works nor leaves: the boards, the fleet and the tally say so', async () => {
  await registerProcess(database.pool, identity('old', 'v1', { capabilities: ['parse', 'publish'] }));
  await began('old', 600);
  await newJob(database.pool, 1);
  const leases = await acquire(database.pool, parseItems, holder('old', 'v1'), 1);
  await registerProcess(database.pool, identity('new', 'v2'));
  expect(await orderDrain(database.pool, 'old')).toBe(true);
  await end(holder('old', 'v1'), leases, 'drain');
  const seen = async () => {
    const [board] = await readOnly(kysely, readDrainBoards);
    const { versions } = await readOnly(kysely, readFleet);
    return [rolloutWords(board!), board!.onlyOld, versions.map(({ version, live, drained, draining }) => [version, live, drained, draining])];
  };
  expect(await seen()).toEqual(['v1: 1 drained by an operator (takes nothing until resumed). v2: 1 works.', [], [['v1', 0, 1, 0], ['v2', 1, 0, 0]]]);
  expect(await orderResume(database.pool, 'old')).toBe(true);
  expect(await seen()).toEqual(['Mixed versions of workers. v1: 1 works. v2: 1 works.', ['publish'], [['v1', 1, 0, 0], ['v2', 1, 0, 0]]]);
  await startShutdownDrain(database.pool, 'old', 20);
  expect(await seen()).toEqual(['Mixed versions of workers. v1: 1 drains. v2: 1 works.', ['publish'], [['v1', 0, 0, 1], ['v2', 1, 0, 0]]]);
});

test('a redeploy whose old processes had all ended before the new one came still knows what they left behind', async () => {
  await registerProcess(database.pool, identity('old', 'v1'));
  await began('old', 600);
  await registerProcess(database.pool, identity('older', 'v1'));
  await database.pool.query(`update workers set started_at = now() - interval '2 days', stopped_at = now() - interval '1 day' where id = 'older'`);
  await newJob(database.pool, 2);
  const leases = await acquire(database.pool, parseItems, holder('old', 'v1'), 2);
  await startShutdownDrain(database.pool, 'old', 20);
  await end(holder('old', 'v1'), [leases[0]!], 'succeed');
  await end(holder('old', 'v1'), [leases[1]!], 'drain');
  await markStopped(database.pool, 'old');
  await registerProcess(database.pool, identity('new', 'v2'));
  const [line] = (await readRedeploys(kysely, parseRedeployFilters(new URLSearchParams()))).redeploys;
  expect(line).toMatchObject({ outgoing: 1, incoming: 1, killed: 0, tally: { inFlight: 2, finished: 1, givenBack: 1 } });
  expect(line!.switchAt).toBeLessThanOrEqual(line!.startedAt);
});

test('waits during the roll are compared with the hour before, queue by queue', async () => {
  const id = await redeploy();
  const minute = (ago: number, bucket: number, acquired: number) => database.pool.query(
    `insert into queue_minutes select 'parse_items', date_trunc('minute', r.started_at) - $1 * interval '1 minute', 0, $3, $3, 0, 0, 0, 0, 0,
        array(select case when i = $2 then $3 else 0 end from generate_series(0, 40) i), array(select 0 from generate_series(0, 40)) from redeploys r`, [ago, bucket, acquired]);
  await minute(0, 20, 4);
  await minute(10, 8, 6);
  await minute(30, 8, 5);
  await minute(90, 30, 9); // longer ago than an hour
  const [waits] = (await readRedeployPage(kysely, id))!.waits;
  expect(waits).toMatchObject({ slug: 'parse-items', before: { taken: 11 }, during: { taken: 4 } });
  expect(waits!.during.p50!).toBeGreaterThan(10 * waits!.before.p50!);
});

test('the list is filtered by role, state and version, and paged by keyset both ways', { timeout: 120_000 }, async () => {
  await database.pool.query(`
    insert into redeploys (id, role, from_version, to_version, started_at, ended_at)
    select md5(n::text)::uuid, case when n % 2 = 0 then 'web' else 'worker' end, 'v' || n, 'v' || n + 1, now() - n / 2 * interval '1 hour', case when n > 1 then now() - n / 2 * interval '50 minutes' end
      from generate_series(1, 45) n`);
  const read = async (query: string) => readRedeploys(kysely, parseRedeployFilters(new URLSearchParams(query)));
  const seen: string[] = [];
  let page = await read('');
  for (;;) {
    seen.push(...page.redeploys.map(({ id }) => id));
    if (page.next === null) break;
    page = await read(`before=${page.next}`);
  }
  expect(new Set(seen).size).toBe(45);
  expect(seen).toHaveLength(45);
  expect((await read(`after=${page.previous}`)).redeploys.map(({ id }) => id)).toEqual(seen.slice(20, 40));
  expect((await read('role=web')).redeploys.every(({ role }) => role === 'web')).toBe(true);
  expect((await read('state=rolling')).redeploys.map(({ fromVersion }) => fromVersion)).toEqual(['v1']);
  expect((await read('version=v7')).redeploys.map(({ fromVersion }) => fromVersion).sort()).toEqual(['v6', 'v7']);
  expect((await read('role=moon&state=x&before=1')).redeploys).toHaveLength(20);
  expect((await read('version=nothing')).empty).toBe(false);
  const file = async (query: string, cap?: number) => JSON.parse((await Readable.from(exportRedeploys(kysely, parseRedeployFilters(new URLSearchParams(query)), 'json', cap)).toArray()).join('')) as { redeploys: { id: string; tally: object }[]; count: number; complete: boolean };
  const whole = await file('before=' + seen[3]);   // always the whole list
  expect([whole.redeploys.map(({ id }) => id), whole.count, whole.complete]).toEqual([seen, 45, true]);
  expect(await file('role=web', 20)).toMatchObject({ count: 20, complete: false });
  expect(await file('version=v7')).toMatchObject({ count: 2, complete: true });
});

test('a long log costs the page of a redeploy little: it reads the minutes of the drain, and the rare ends by their index', { timeout: 120_000 }, async () => {
  await database.pool.query(`
    insert into queue_events (at, queue, row_id, from_state, to_state, cause, worker_id, worker_version, lease_token)
    select now() - (100000 - n) * interval '2 seconds', 'parse_items', gen_random_uuid(), 'running', 'succeeded', 'succeed', 'w-' || n % 10, 'v1', 1 from generate_series(1, 100000) n`);
  await database.pool.query('vacuum analyze queue_events');
  const id = await redeploy();
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];
  const logged = new Kysely<DB>({ dialect: new PostgresDialect({ pool: database.pool }), log: ({ query: { sql, parameters } }) => { asked.push({ sql, parameters }); } });
  expect((await readRedeployPage(logged, id))!.tally.inFlight).toBe(7);
  const { rows: [size] } = await database.pool.query<{ blocks: number }>(`select (pg_relation_size('queue_events') / 8192)::int as blocks`);
  const reads = asked.filter(({ sql }) => sql.includes('queue_events'));
  expect(reads.length).toBeGreaterThanOrEqual(4);
  for (const { sql, parameters } of reads) {
    const { rows } = await database.pool.query(`explain (analyze, buffers, format json) ${sql}`, [...parameters]);
    const plan = rows[0]['QUERY PLAN'][0].Plan as Record<string, number>;
    expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(size!.blocks / 5);
  }
});
