import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createListener, type Listener } from '../../server/bus/listener.js';
import { createLiveHub, type LiveHub } from '../../server/console/live-hub.js';
import { parseTopic } from '../../server/console/live-topics.js';
import { createViews } from '../../server/console/live-views.js';
import { loadConfig, withDatabase } from '../../server/config.js';
import { connectionConfig, createPool } from '../../server/db/connection.js';
import { createKysely } from '../../server/db/kysely.js';
import { createLogger } from '../../server/log.js';
import { createProxy, type Proxy } from '../bus/proxy.js';
import { insertParseItem } from '../support/factories.js';
import { until } from '../support/until.js';
import { privateServer, type PrivateServer } from './private-server.js';

const log = createLogger({ level: 'silent', name: 'test' });
const config = loadConfig({ LOG_LEVEL: 'silent' });
const LISTENER = 'live outages listener';

let server: PrivateServer;
let admin: pg.Pool;
/** The listener's link and the reads' link to the database, broken apart from each other. */
let links: { listener: Proxy; reads: Proxy };
let pool: pg.Pool;
let listener: Listener;
let hub: LiveHub;

beforeAll(async () => {
  server = await privateServer();
  admin = createPool(withDatabase(config, server.url), { role: 'test', log });
});
beforeEach(async () => {
  links = { listener: await createProxy(server.url), reads: await createProxy(server.url) };
  pool = createPool(withDatabase(config, links.reads.url), { role: 'test', log });
  listener = createListener({
    connection: connectionConfig(links.listener.url, { applicationName: LISTENER }),
    channels: { rows: config.rowsChannel }, log, canaryIntervalMs: 100, limitMs: 2_000, firstPauseMs: 50, longestPauseMs: 200,
  });
  hub = createLiveHub({ listener, views: createViews({ pool, kysely: createKysely(pool) }, config), log, pollSeconds: 0.4, feedIntervalMs: 100, readLimitMs: 1_500 });
  listener.start();
  await until(() => listener.state().up);
});
afterEach(async () => {
  hub.close();
  await Promise.all([links.listener.close(), links.reads.close()]);
  await Promise.all([listener.close(), pool.end()]);
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

interface Seen {
  event: string;
  data: any;
}

async function watch(user: string) {
  const seen: Seen[] = [];
  const leave = hub.open([parseTopic(`queue:parse-items?user=${user}`)!], {
    deliver({ text }) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text.toString())!;
      seen.push({ event: event!, data: JSON.parse(data!) });
    },
  });
  const of = (event: string) => seen.filter((each) => each.event === event).map((each) => each.data);
  const state = () => of('feed').at(-1)?.state as string;
  await until(() => of('snapshot').length > 0 && state() === 'live', { what: 'a live stream' });
  return { of, state, states: () => of('feed').map((feed) => feed.state as string), forget: () => void seen.splice(0), leave };
}

const write = (id: string) => admin.query('update parse_items set version = version + 1 where id = $1', [id]);
/** By a change or by a complete view, whichever the poll came to first. */
const brought = (stream: { of(event: string): unknown[] }, wanted: number) =>
  [...stream.of('snapshot'), ...stream.of('queue'), ...stream.of('rows')].some((event) => version([event as never]) === wanted);
const version = (events: { rows?: { version: number }[]; data?: { rows: { version: number }[] } }[]) => events.flatMap((each) => each.rows ?? each.data?.rows ?? []).at(-1)?.version;

describe('the live board', () => {
  it('finds by its poll what no hint spoke of, and does not call that polling', async () => {
    const item = await insertParseItem(admin, { user_id: 'unhinted' });
    const stream = await watch('unhinted');
    await write(item.id);
    await until(() => brought(stream, 2));
    const fresh = await insertParseItem(admin, { user_id: 'unhinted' });
    await until(() => stream.of('queue').some((view) => view.data.rows.some((row: { id: string }) => row.id === fresh.id)));
    expect(stream.states()).not.toContain('polling');
    stream.leave();
  });

  it('says polling while the listener is lost, goes on by polling, and starts everyone afresh when it is back', async () => {
    const item = await insertParseItem(admin, { user_id: 'polled' });
    const stream = await watch('polled');
    links.listener.set('refuse');
    await until(() => stream.state() === 'polling');
    const asOf = stream.of('feed').at(-1).asOf;
    await write(item.id);
    await until(() => brought(stream, 2));
    await until(() => stream.of('feed').at(-1).asOf > asOf);
    expect(stream.state()).toBe('polling');
    const lost = stream.of('feed').at(-1);
    expect(lost.serverNow - lost.since).toBeGreaterThan(0);
    expect(lost.roundTripMs).toBeNull();
    stream.forget();
    links.listener.set('forward');
    await until(() => stream.state() === 'live' && stream.of('snapshot').length > 0);
    expect(version(stream.of('snapshot'))).toBe(2);
    stream.leave();
  });

  it('leaves no read behind at the server when a table is locked for long', async () => {
    const item = await insertParseItem(admin, { user_id: 'locked' });
    const stream = await watch('locked');
    const locker = await admin.connect();
    // Of the reads of changed rows: they begin anew for as long as they fail.
    const waiting = async () => (await admin.query<{ pid: number }>(`select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%json_agg(r order by%'`)).rows.map(({ pid }) => pid);
    try {
      await locker.query('begin; lock table parse_items in access exclusive mode');
      await admin.query(`select pg_notify($1, $2)`, [config.rowsChannel, JSON.stringify({ t: 'parse_items', ids: [item.id] })]);
      const first = await until(async () => (await waiting()).length > 0 && waiting(), { what: 'a read that waits for the lock' });
      await until(async () => (await waiting()).every((pid) => !first.includes(pid)), { timeoutMs: 20_000, what: 'the end of that read' });
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    await write(item.id);
    await until(() => brought(stream, 2));
    stream.leave();
  });

  it("notices a terminated listener and a listener's link that swallows everything", async () => {
    const stream = await watch('cut');
    stream.forget();
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [LISTENER]);
    await until(() => stream.of('snapshot').length > 0 && stream.state() === 'live');
    expect(stream.states()).toContain('polling');
    stream.forget();
    links.listener.set('hole');
    await until(() => stream.state() === 'polling');
    links.listener.set('forward');
    await until(() => stream.of('snapshot').length > 0 && stream.state() === 'live');
    stream.leave();
  });

  it('stops calling itself live as soon as its reads fail or hang, and catches up when they answer again', async () => {
    const item = await insertParseItem(admin, { user_id: 'unread' });
    const stream = await watch('unread');
    for (const fault of ['refuse', 'hole'] as const) {
      links.reads.set(fault);
      await until(() => stream.state() === 'catching_up', { timeoutMs: 20_000 });
      const asOf = stream.of('feed').at(-1).asOf;
      await write(item.id);
      await until(() => stream.of('feed').at(-1).serverNow > asOf + 1_000);
      expect(stream.of('feed').at(-1).asOf).toBe(asOf); // it does not pretend
      links.reads.set('forward');
      await until(() => stream.state() === 'live' && stream.of('feed').at(-1).asOf > asOf);
    }
    await until(() => brought(stream, 3));
    stream.leave();
  });

  it('survives a restart of Postgres and sends everything anew under the new epoch', async () => {
    const item = await insertParseItem(admin, { user_id: 'restarted' });
    const stream = await watch('restarted');
    const epoch = stream.of('snapshot')[0].epoch;
    await server.stop();
    await until(() => stream.state() !== 'live');
    await server.start();
    await write(item.id);
    await until(() => stream.of('snapshot').some((view) => view.epoch !== epoch) && stream.state() === 'live', { timeoutMs: 15_000 });
    const later = () => [...stream.of('snapshot'), ...stream.of('queue'), ...stream.of('rows')].filter((event) => event.epoch !== epoch);
    await until(() => later().some((event) => version([event]) === 2));
    await until(() => listener.state().up);
    stream.leave();
  });
});
