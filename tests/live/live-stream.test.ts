import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLiveHub, type LiveHub } from '../../server/console/live-hub.js';
import { createViews } from '../../server/console/live-views.js';
import { createLive, type Live } from '../../server/http/live.js';
import { findRolesBySessionId } from '../../server/http/principal.js';
import { insertParseItem, insertParseJob, insertWorker } from '../support/factories.js';
import { signedIn, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { openStream, type EventStream } from './event-stream.js';

let db: TestDatabase;
let web: WebUnderTest;
let hub: LiveHub;
let live: Live;
const reads = { topic: 0, rows: 0 };
const rechecks: (readonly string[])[] = [];
const open: EventStream[] = [];

beforeAll(async () => {
  db = await testDatabase();
  web = await startWeb(db, {
    parts(world) {
      const views = createViews(world, world.config);
      const counted = {
        topic: (...args: Parameters<typeof views.topic>) => ((reads.topic += 1), views.topic(...args)),
        rows: (...args: Parameters<typeof views.rows>) => ((reads.rows += 1), views.rows(...args)),
      };
      hub = createLiveHub({ listener: world.listener, views: counted, log: world.log, pollSeconds: 3_600, feedIntervalMs: 200 });
      live = createLive({ hub, log: world.log, recheck: (ids) => (rechecks.push(ids), findRolesBySessionId(world.pool, ids)), pingMs: 200, maxPerOperator: 60 });
      return { live: live.router, liveClients: live.clients };
    },
  });
});
afterEach(async () => {
  for (const stream of open.splice(0)) stream.close();
  await until(() => live.clients() === 0 && hub.streams() === 0, { what: 'letting go of every stream' });
});
afterAll(async () => {
  live.close();
  hub.close();
  await web.close();
});

async function connect(topics: string[], cookie?: string): Promise<EventStream> {
  const stream = await openStream(web.url, topics, cookie ?? (await signedIn(db)).cookie);
  open.push(stream);
  return stream;
}

const changed = (table: string, ids: string[]) => web.world.hints.changed(table, ids);
const bump = (id: string) => db.pool.query('update parse_items set version = version + 1 where id = $1', [id]);

/** The highest version of any row that has come, by whatever event. */
const newest = (stream: EventStream) =>
  Math.max(0, ...stream.events.flatMap(({ data }) => (data.rows ?? data.data?.rows ?? []).map((row: { version: number }) => row.version)));

/** What is said to a connection that is used by hand. */
function openSocket(request: string): { said(): string; close(): void } {
  const parts: Buffer[] = [];
  const socket = net.connect(Number(new URL(web.url).port), '127.0.0.1', () => socket.write(request)).on('data', (part) => parts.push(part));
  return { said: () => Buffer.concat(parts).toString(), close: () => void socket.destroy() };
}

/** Reads the chunks by their lengths (bytes), as a proxy does. */
function chunksOf(answer: string): string[] {
  let rest = Buffer.from(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4));
  const chunks: string[] = [];
  while (rest.includes('\r\n')) {
    const [head] = rest.toString('latin1').split('\r\n');
    const [from, length] = [head!.length + 2, parseInt(head!, 16)];
    chunks.push(rest.subarray(from, from + length).toString());
    expect(rest.subarray(from + length, from + length + 2).toString()).toBe('\r\n');
    rest = rest.subarray(from + length + 2);
  }
  return chunks;
}

describe('a live stream', () => {
  it('is for signed-in people only, and only for topics that exist', async () => {
    expect((await connect(['summary'], '')).status).toBe(401);
    expect((await connect(['secrets'])).status).toBe(400);
    expect((await connect(['queue:no-such-queue'])).status).toBe(400);
    expect((await connect(['row:parse-items:1 or 1=1'])).status).toBe(400);
    expect((await connect(Array.from({ length: 9 }, (_, n) => `queue:parse-items?user=${n}`))).status).toBe(400);
  });

  it('is neither cached, buffered nor compressed, and begins with the feed and a snapshot of each topic', async () => {
    const item = await insertParseItem(db.pool, { state: 'running' });
    const topics = ['summary', 'workers', 'queue:parse-items?state=queued,running', `row:parse-items:${item.id}`];
    const stream = await connect(topics);
    await until(() => stream.of('snapshot').length === 4);
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(stream.headers['cache-control']).toBe('no-store, no-transform');
    expect(stream.headers['x-accel-buffering']).toBe('no');
    expect(stream.headers['content-encoding']).toBeUndefined();
    expect(stream.events[0]!.event).toBe('feed');
    expect(stream.of('snapshot').map((each) => each.topic).sort()).toEqual([...topics].sort());
    const { rows: [clock] } = await db.pool.query<{ epoch: number; now: number }>(
      'select round(extract(epoch from pg_postmaster_start_time()) * 1000)::float8 as epoch, extract(epoch from now()) * 1000 as now');
    for (const snapshot of stream.of('snapshot')) {
      expect(snapshot.epoch).toBe(clock!.epoch);
      expect(Math.abs(snapshot.asOf - clock!.now)).toBeLessThan(5_000);
    }
    const page = stream.of('snapshot').find((each) => each.topic === topics[2]);
    expect(page.data.rows.map((row: { id: string }) => row.id)).toContain(item.id);
    await until(() => stream.of('feed').at(-1)?.state === 'live');
    expect(stream.of('feed').at(-1).asOf).toBeGreaterThan(0);
  });

  it('sends a changed row after a hint, higher in version, and a row that is gone as removed', async () => {
    const item = await insertParseItem(db.pool, { state: 'queued', user_id: 'delta' });
    const stream = await connect(['queue:parse-items?user=delta']);
    await until(() => stream.of('snapshot').length === 1);
    await bump(item.id);
    changed('parse_items', [item.id]);
    const { rows } = await until(() => stream.of('rows')[0]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ id: item.id, version: 2, state: 'queued' });
    await db.pool.query('delete from parse_items where id = $1', [item.id]);
    changed('parse_items', [item.id]);
    await until(() => stream.of('rows').some((each) => each.removed.includes(item.id)));
  });

  it('names rows that enter and leave the filtered page, and is silent about others', async () => {
    const stream = await connect(['queue:parse-items?user=inside&state=queued']);
    await until(() => stream.of('snapshot').length === 1);
    const inside = await insertParseItem(db.pool, { user_id: 'inside' });
    changed('parse_items', [inside.id]);
    await until(() => stream.of('rows').some((each) => each.entered.includes(inside.id)));
    await db.pool.query(`update parse_items set state = 'cancelled', finished_at = now(), file_bytes = null, version = version + 1 where id = $1`, [inside.id]);
    changed('parse_items', [inside.id]);
    await until(() => stream.of('rows').some((each) => each.left.includes(inside.id)));
    const others = [await insertParseItem(db.pool, { user_id: 'outside' }), await insertParseItem(db.pool, { user_id: 'inside', state: 'failed' })];
    const last = await insertParseItem(db.pool, { user_id: 'inside' });
    changed('parse_items', [...others, last].map((item) => item.id));
    await until(() => stream.of('rows').some((each) => each.entered.includes(last.id)));
    for (const { id } of others) expect(JSON.stringify(stream.of('rows'))).not.toContain(id);
  });

  it('counts anew when a row changes that its filtered page does not show', async () => {
    const stream = await connect(['queue:parse-items?user=counted']);
    await until(() => stream.of('snapshot').length === 1);
    const { open: before } = stream.of('snapshot')[0].data;
    changed('parse_items', [(await insertParseItem(db.pool, { user_id: 'not counted' })).id]);
    await until(() => stream.of('queue').at(-1)?.data.open.queued > before.queued);
    expect(stream.of('rows')).toEqual([]);
  });

  it('follows rows by name that have left the page', async () => {
    const items = [await insertParseItem(db.pool, { user_id: 'named' }), await insertParseItem(db.pool, { user_id: 'named' })];
    const stream = await connect([`rows:parse-items:${items.map((item) => item.id).join(',')}`]);
    expect((await until(() => stream.of('snapshot')[0])).data.rows).toHaveLength(2);
    await bump(items[1]!.id);
    changed('parse_items', items.map((item) => item.id));
    const before = reads.topic;
    const { rows } = await until(() => stream.of('rows')[0]);
    expect(rows.map((row: { id: string }) => row.id)).toEqual([items[1]!.id]); // the other has not changed
    for (const version of [3, 4, 5]) {
      await bump(items[1]!.id);
      changed('parse_items', [items[1]!.id]);
      await until(() => newest(stream) === version);
    }
    expect(reads.topic).toBe(before); // there is nothing but rows to read
  });

  it('says what a beat has moved, only for the rows that someone sees', async () => {
    const worker = await insertWorker(db.pool);
    const held = { state: 'running' as const, user_id: 'beaten', worker_id: worker.id };
    const [seen, unseen] = [await insertParseItem(db.pool, held), await insertParseItem(db.pool, { ...held, user_id: 'elsewhere' })];
    const stream = await connect(['queue:parse-items?user=beaten']);
    await until(() => stream.of('snapshot').length === 1);
    await db.pool.query(`update parse_items set heartbeat_at = now() + interval '1 second', version = version + 1 where worker_id = $1`, [worker.id]);
    web.world.hints.beat(worker.id);
    const { rows } = await until(() => stream.of('rows')[0]);
    expect(rows.map((row: { id: string }) => row.id)).toEqual([seen.id]);
    expect(JSON.stringify(stream.events)).not.toContain(unseen.id);
  });

  it('recomputes summary, workers and the row page when something changed', async () => {
    const item = await insertParseItem(db.pool, { state: 'queued' });
    const stream = await connect(['summary', 'workers', `row:parse-items:${item.id}`]);
    await until(() => stream.of('snapshot').length === 3);
    await insertWorker(db.pool);
    await bump(item.id);
    changed('parse_items', [item.id]);
    await until(() => stream.of('row').length > 0 && stream.of('workers').length > 0);
    expect(stream.of('row').at(-1).data.row.version).toBe(2);
    await insertParseItem(db.pool);
    await insertParseJob(db.pool);
    changed('parse_jobs', ['x']);
    await until(() => stream.of('summary').length > 0);
  });

  it('answers a row that does not exist with a view of nothing', async () => {
    const stream = await connect(['row:parse-items:00000000-0000-7000-8000-000000000000']);
    expect((await until(() => stream.of('snapshot')[0])).data).toBeNull();
  });

  it('is read once for many browsers', async () => {
    const item = await insertParseItem(db.pool, { state: 'queued', user_id: 'many' });
    const { cookie } = await signedIn(db);
    const connecting = reads.topic;
    const streams = await Promise.all(Array.from({ length: 40 }, () => connect(['queue:parse-items?user=many'], cookie)));
    await until(() => streams.every((stream) => stream.of('snapshot').length === 1));
    expect(reads.topic - connecting).toBeLessThan(30); // those that arrive during a read share the next one
    const before = { ...reads };
    await bump(item.id);
    changed('parse_items', [item.id]);
    await until(() => streams.every((stream) => stream.of('rows').length === 1));
    expect(reads).toEqual({ topic: before.topic, rows: before.rows + 1 });
  });

  it('reads nothing while nobody looks', async () => {
    const before = { ...reads };
    const item = await insertParseItem(db.pool);
    changed('parse_items', [item.id]);
    await web.world.hints.flush();
    const stream = await connect(['workers']);
    await until(() => stream.of('snapshot').length === 1);
    expect(reads).toEqual({ topic: before.topic + 1, rows: before.rows });
  });

  it('collapses a storm of changes into few reads and bounded events', async () => {
    const { rows } = await db.pool.query<{ id: string }>(`
      insert into parse_jobs (id, user_id, session_id, open_children, total_children, state)
      select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'storm', 's', 0, 1, 'queued' from generate_series(1, 3000) n returning id`);
    const stream = await connect(['queue:parse-jobs?user=storm']);
    await until(() => stream.of('snapshot').length === 1);
    const before = { ...reads };
    for (let n = 0; n < 20; n += 1) {
      changed('parse_jobs', rows.map((row) => row.id));
      await web.world.hints.flush();
    }
    await db.pool.query(`update parse_jobs set version = 99 where user_id = 'storm'`);
    changed('parse_jobs', rows.map((row) => row.id));
    await until(() => [...stream.of('rows'), ...stream.of('queue')].some((each) => JSON.stringify(each).includes('"version":99')));
    expect(reads.topic + reads.rows - before.topic - before.rows).toBeLessThan(40); // against 63,000 rows named by hints
    for (const event of stream.of('rows')) expect(event.rows.length + event.entered.length).toBeLessThanOrEqual(250);
  });

  it('ends when a ping finds the session revoked or the account disabled, says so, and lets go', async () => {
    const [one, two] = [await signedIn(db), await signedIn(db)];
    const [revoked, disabled, other] = [await connect(['summary'], one.cookie), await connect(['summary'], two.cookie), await connect(['summary'])];
    await until(() => other.pings() > 1 && revoked.pings() > 1);
    await db.pool.query('update operator_sessions set revoked_at = now() where operator_id = $1', [one.operatorId]);
    await db.pool.query('update operators set disabled_at = now() where id = $1', [two.operatorId]);
    await until(() => revoked.ended() && disabled.ended());
    expect(revoked.of('bye')).toEqual([{ reason: 'signed_out' }]);
    expect(disabled.of('bye')).toEqual([{ reason: 'signed_out' }]);
    expect(other.ended()).toBe(false);
  });

  it('has its session read again together with those of others, each once', async () => {
    const people = [await signedIn(db), await signedIn(db)];
    const streams = await Promise.all(people.flatMap(({ cookie }) => Array.from({ length: 30 }, () => connect(['workers'], cookie))));
    const pings = () => streams.reduce((sum, stream) => sum + stream.pings(), 0);
    await until(() => hub.streams() === streams.length && streams.every((stream) => stream.pings() > 0));
    const [calls, pinged] = [rechecks.length, pings()];
    await until(() => pings() >= pinged + 4 * streams.length);
    expect(rechecks.length - calls).toBeLessThan((pings() - pinged) / 2); // fifteen turns a round, and sixty pings
    for (const asked of rechecks.slice(calls)) expect([asked.length, asked.length <= people.length]).toEqual([new Set(asked).size, true]);
  });

  it('comes whole in chunks, also behind another answer of its connection, and over HTTP/1.0, which has none', async () => {
    const item = await insertParseItem(db.pool, { state: 'queued', user_id: 'geprüft' });
    const { cookie } = await signedIn(db);
    const topic = 'queue:parse-items?user=geprüft';
    const ask = (version: string) => `GET /live?topics=${encodeURIComponent(topic)} HTTP/${version}\r\nHost: test\r\nCookie: ${cookie}\r\n\r\n`;
    const sockets = [openSocket(ask('1.1')), openSocket(`GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n${ask('1.1')}`), openSocket(ask('1.0'))] as const;
    const [chunked, behind, plain] = sockets;
    await until(() => sockets.every(({ said }) => said().includes('event: snapshot')));
    await bump(item.id);
    changed('parse_items', [item.id]);
    await until(() => sockets.every(({ said }) => /event: rows\n.*\n\n/.test(said())));
    expect(plain.said()).not.toMatch(/transfer-encoding|\r\n[0-9a-f]+\r\n/i);
    const rowsOf = (text: string) => JSON.parse(/event: rows\ndata: (.*)\n\n/.exec(text)![1]!).rows[0];
    expect(rowsOf(plain.said())).toMatchObject({ id: item.id, columns: { user_id: 'geprüft' } });
    for (const { said } of [chunked, behind]) {
      expect(said()).toMatch(/transfer-encoding: chunked/i);
      expect(rowsOf(chunksOf(said()).join(''))).toEqual(rowsOf(plain.said()));
    }
    for (const { close } of sockets) close();
  });

  it('is let go with its connection, also one that never had its turn on it', async () => {
    const { cookie } = await signedIn(db);
    const before = hub.streams();
    const connection = openSocket(`GET /live?topics=workers HTTP/1.1\r\nHost: test\r\nCookie: ${cookie}\r\n\r\n`.repeat(5));
    await until(() => hub.streams() === before + 5);
    connection.close();
    await until(() => hub.streams() === before);
  });

  it('is capped per operator, and a closed one makes room', async () => {
    const { cookie } = await signedIn(db);
    const streams = await Promise.all(Array.from({ length: 60 }, () => connect(['workers'], cookie)));
    expect(streams.map((stream) => stream.status)).toEqual(Array.from({ length: 60 }, () => 200));
    const refused = await connect(['workers'], cookie);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    expect((await connect(['workers'])).status).toBe(200); // someone else
    streams[0]!.close();
    await until(async () => (await connect(['workers'], cookie)).status === 200);
  });

  it('of fifty, torn down in every way, leaves no stream, no timer and no growing set behind', async () => {
    const { cookie } = await signedIn(db);
    for (let round = 0; round < 3; round += 1) {
      const streams = await Promise.all(Array.from({ length: 50 }, () => connect(['summary', 'queue:parse-items'], cookie)));
      expect(hub.streams()).toBe(50);
      for (const [n, stream] of streams.entries()) if (n % 2) stream.close();
      for (const stream of streams) stream.close();
      await until(() => hub.streams() === 0 && live.clients() === 0);
    }
    const before = { ...reads };
    changed('parse_items', [(await insertParseItem(db.pool)).id]);
    await web.world.hints.flush();
    expect(reads).toEqual(before);
  });

  it('drops events for a browser that does not read instead of queueing them, and starts it afresh when it reads again', async () => {
    const item = await insertParseItem(db.pool, { state: 'failed', user_id: 'slow', error_message: 'x'.repeat(500_000) });
    const topic = `queue:parse-items?user=slow`;
    const [slow, quick] = [await connect([topic]), await connect([topic])];
    await until(() => slow.of('snapshot').length === 1 && quick.of('snapshot').length === 1);
    slow.pause();
    for (let n = 0; n < 25; n += 1) {
      await bump(item.id);
      changed('parse_items', [item.id]);
      await until(() => newest(quick) === n + 2);
    }
    slow.resume();
    await until(() => slow.of('snapshot').length > 1);
    await until(() => newest(slow) === 26);
    expect(slow.of('rows').length).toBeLessThan(25);
  });

  it('says goodbye to everyone when the process stops', async () => {
    const other = createLive({ hub, log: web.world.log, recheck: async () => new Map() });
    const second = await startWeb(db, { parts: () => ({ live: other.router }) });
    const { cookie } = await signedIn(db);
    const stream = await openStream(second.url, ['workers'], cookie);
    await until(() => stream.of('snapshot').length === 1);
    other.close();
    await until(() => stream.ended());
    expect(stream.of('bye')).toEqual([{ reason: 'shutdown' }]);
    expect((await openStream(second.url, ['workers'], cookie)).status).toBe(503);
    await second.close();
  });

  it('ends at its age and says so', async () => {
    const brief = createLive({ hub, log: web.world.log, recheck: (ids) => findRolesBySessionId(db.pool, ids), maxAgeMs: 300 });
    const second = await startWeb(db, { parts: () => ({ live: brief.router }) });
    const stream = await openStream(second.url, ['workers'], (await signedIn(db)).cookie);
    await until(() => stream.ended());
    expect(stream.of('bye')).toEqual([{ reason: 'max_age' }]);
    await second.close();
  });
});

