import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLive, type Live } from '../../server/http/live.js';
import { signedIn, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { openStream, type EventStream } from './event-stream.js';

let database: TestDatabase;
let web: WebUnderTest;
let live: Live;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { parts: (world) => ({ live: (live = openLive(world)).router }) });
});
afterAll(async () => {
  live?.close();
  await web?.close();
});

/** Within half a minute, with the pings as they are in production. */
test('the open stream of a demoted, revoked, disabled, idle or deleted person closes within 30 s and says why; others stay', { timeout: 60_000 }, async () => {
  const ends = {
    demoted: [`update operators set role = 'viewer' where id = $1`, 'max_age'],
    promoted: [`update operators set role = 'operator' where id = $1 and role = 'viewer'`, 'max_age'],
    revoked: ['update operator_sessions set revoked_at = now() where operator_id = $1', 'signed_out'],
    disabled: ['update operators set disabled_at = now() where id = $1', 'signed_out'],
    idle: [`update operator_sessions set last_seen_at = now() - interval '12 hours' where operator_id = $1`, 'signed_out'],
    deleted: ['delete from operators where id = $1', 'signed_out'],
  } as const;
  const watched: { name: string; statement: string; reason: string; operatorId: string; stream: EventStream }[] = [];
  for (const [name, [statement, reason]] of Object.entries(ends)) {
    const { cookie, operatorId } = await signedIn(database, name === 'promoted' ? 'viewer' : 'admin');
    watched.push({ name, statement, reason, operatorId, stream: await openStream(web.url, ['summary'], cookie) });
  }
  const bystander = await openStream(web.url, ['summary'], (await signedIn(database, 'admin')).cookie);
  await until(() => [...watched, { stream: bystander }].every(({ stream }) => stream.of('snapshot').length === 1));
  for (const { statement, operatorId } of watched) await database.pool.query(statement, [operatorId]);
  const began = performance.now();
  await until(() => watched.every(({ stream }) => stream.ended()), { timeoutMs: 30_000, what: 'the end of every stream' });
  expect(watched.map(({ name, stream }) => [name, stream.of('bye')])).toEqual(watched.map(({ name, reason }) => [name, [{ reason }]]));
  expect(bystander.ended()).toBe(false);
  expect(performance.now() - began).toBeLessThan(30_000);
  bystander.close();
});
