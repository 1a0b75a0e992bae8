import { afterAll, beforeAll, expect, it } from 'vitest';
import { createListener } from '../../server/bus/listener.js';
import { kick } from '../../server/bus/kick.js';
import { connectionConfig, createPool } from '../../server/db/connection.js';
import { loadConfig, withDatabase } from '../../server/config.js';
import { createLogger } from '../../server/log.js';
import { privateServer, type PrivateServer } from '../live/private-server.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
let server: PrivateServer;

beforeAll(async () => {
  server = await privateServer();
});
afterAll(() => server.remove());

it('the listener outlives Postgres: it says that it is down, comes back with the next life, and has everything read again', async () => {
  const listener = createListener({
    connection: connectionConfig(server.url, { applicationName: 'restart' }),
    channels: { kick: 'k' }, log, canaryIntervalMs: 50, limitMs: 1_000, firstPauseMs: 20, longestPauseMs: 100,
  });
  const heard: unknown[] = [];
  let actives = 0;
  listener.subscribe('kick', (message) => heard.push(message));
  listener.onActive(() => (actives += 1));
  listener.start();
  await until(() => listener.state().up);
  for (let life = 2; life <= 3; life += 1) {
    await server.stop();
    await until(() => !listener.state().up);
    await server.start();
    await until(() => listener.state().up && actives === life);
  }
  const pool = createPool(withDatabase(loadConfig({}), server.url), { role: 'test', log });
  await kick(pool, { kickChannel: 'k' }, { q: 'parse_items' });
  await until(() => heard.length === 1);
  const backends = await pool.query(`select 1 from pg_stat_activity where application_name = 'restart'`);
  expect(backends.rowCount).toBe(1);
  await pool.end();
  await listener.close();
});
