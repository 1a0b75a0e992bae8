import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { kick } from '../../server/bus/kick.js';
import { createListener, type Listener } from '../../server/bus/listener.js';
import type { KickMessage } from '../../server/bus/topics.js';
import { connectionConfig } from '../../server/db/connection.js';
import { createLogger } from '../../server/log.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { createProxy, type Proxy } from './proxy.js';

const log = createLogger({ level: 'silent', name: 'test' });
const kickChannel = 'test_kick';
const patience = { timeout: 20_000, interval: 20 };

let db: TestDatabase;
let proxy: Proxy;
const open: Listener[] = [];
let names = 0;

beforeAll(async () => {
  db = await testDatabase();
  proxy = await createProxy(db.url);
});
afterEach(async () => {
  proxy.set('forward');
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});
afterAll(async () => {
  await proxy.close();
});

function listen(url = db.url, limitMs = 5_000) {
  const name = `listener test ${process.pid} ${(names += 1)}`;
  const listener = createListener({
    connection: connectionConfig(url, { applicationName: name }),
    channels: { kick: kickChannel },
    log,
    canaryIntervalMs: 50,
    limitMs,
    firstPauseMs: 20,
    longestPauseMs: 100,
  });
  open.push(listener);
  const messages: KickMessage[] = [];
  let actives = 0;
  listener.subscribe('kick', (message) => messages.push(message));
  listener.onActive(() => (actives += 1));
  listener.start();
  return { listener, name, messages, actives: () => actives, up: () => vi.waitUntil(() => listener.state().up, patience) };
}

const backends = async (name: string) =>
  (await db.pool.query('select pid from pg_stat_activity where application_name = $1', [name])).rows.map((row) => row.pid as number);
const terminate = (name: string) => db.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name]);
const send = (payload: string) => db.pool.query('select pg_notify($1, $2)', [kickChannel, payload]);

/** Proves that `heard` hears: what is sent now arrives. */
async function hears(heard: { messages: KickMessage[] }, q: string) {
  await kick(db.pool, { kickChannel }, { q });
  await vi.waitUntil(() => heard.messages.some((message) => 'q' in message && message.q === q), patience);
}

describe('the listener', () => {
  it('becomes active once LISTEN holds, hands on typed messages and measures its round trip', async () => {
    const one = listen();
    await one.up();
    expect(one.actives()).toBe(1);
    await hears(one, 'parse_items');
    expect(one.listener.state()).toMatchObject({ up: true, reconnects: 0, malformed: 0 });
    expect(one.listener.state().lastRoundTripMs).toBeGreaterThan(0);
    expect(await backends(one.name)).toHaveLength(1);
  });

  it('has its users read again after a terminated backend, and hears on', async () => {
    const one = listen();
    await one.up();
    for (let round = 1; round <= 3; round += 1) {
      await terminate(one.name);
      await vi.waitUntil(() => one.actives() === round + 1, patience);
      await hears(one, `after_${round}`);
    }
    expect(one.listener.state().reconnects).toBe(3);
    expect(await backends(one.name)).toHaveLength(1);
  });

  it('notices a link that swallows everything by the canary that does not return, and says so until it is back', async () => {
    const one = listen(proxy.url, 1_000);
    const changes: boolean[] = [];
    one.listener.onChange((state) => changes.push(state.up));
    await one.up();
    proxy.set('hole');
    await vi.waitUntil(() => !one.listener.state().up, patience);
    const before = proxy.attempts();
    await vi.waitUntil(() => proxy.attempts() > before, patience); // it tries on, into the hole
    expect(one.listener.state().up).toBe(false);
    proxy.set('forward');
    await one.up();
    await hears(one, 'through_the_hole');
    expect(changes.slice(0, 3)).toEqual([true, false, true]);
    await vi.waitUntil(async () => (await backends(one.name)).length === 1, patience);
  });

  it('outlasts an outage that refuses many attempts', async () => {
    const one = listen(proxy.url);
    await one.up();
    proxy.set('refuse');
    const before = proxy.attempts();
    await vi.waitUntil(() => proxy.attempts() >= before + 20, patience);
    expect(one.listener.state().up).toBe(false);
    proxy.set('forward');
    await one.up();
    await hears(one, 'after_the_outage');
  });

  it('starts while the database is away', async () => {
    proxy.set('refuse');
    const one = listen(proxy.url);
    await vi.waitUntil(() => proxy.attempts() > 2, patience);
    proxy.set('forward');
    await one.up();
    expect(one.actives()).toBe(1);
  });

  it('ignores and counts payloads that make no sense', async () => {
    const one = listen();
    await one.up();
    for (const payload of ['', 'not json', '{"q":5}', '[]', '\u0001', '{"lost":"all"}', 'x'.repeat(7_999)]) await send(payload);
    await hears(one, 'sense');
    expect(one.messages).toEqual([{ q: 'sense' }]);
    expect(one.listener.state()).toMatchObject({ up: true, malformed: 7, reconnects: 0 });
  });

  it('lets no user that throws harm another', async () => {
    const one = listen();
    one.listener.subscribe('kick', () => {
      throw new Error('a user at fault');
    });
    const late: KickMessage[] = [];
    const stop = one.listener.subscribe('kick', (message) => late.push(message));
    await one.up();
    await hears(one, 'first');
    expect(late).toEqual([{ q: 'first' }]);
    stop();
    await hears(one, 'second');
    expect(late).toHaveLength(1);
  });

  it('retries a login that the server refuses until it is let in', async () => {
    const name = `late_${process.pid}`;
    const url = new URL(proxy.url);
    url.pathname = `/${name}`;
    const before = proxy.attempts();
    const one = listen(url.href);
    await vi.waitUntil(() => proxy.attempts() >= before + 3, patience);
    expect(one.listener.state().up).toBe(false);
    await onServer((client) => client.query(`create database ${name} template template0`));
    await one.up();
    await one.listener.close();
    await onServer((client) => client.query(`drop database ${name} with (force)`));
  });

  it('leaks no backend, whenever it is closed', async () => {
    const all = await Promise.all(
      Array.from({ length: 24 }, async (_, n) => {
        const one = listen();
        if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, n)); // anywhere in connecting
        if (n % 3 === 1) await one.up();
        if (n % 3 === 2) {
          await one.up();
          await terminate(one.name);
          await vi.waitUntil(() => !one.listener.state().up, patience);
          await new Promise((resolve) => setTimeout(resolve, n)); // anywhere in its reconnect
        }
        await Promise.all([one.listener.close(), one.listener.close()]);
        return one;
      }),
    );
    for (const one of all) {
      await vi.waitUntil(async () => (await backends(one.name)).length === 0, patience);
      expect(one.listener.state().up).toBe(false);
    }
  });
});
