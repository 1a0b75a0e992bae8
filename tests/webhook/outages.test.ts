/** The webhook behind a link to the database that goes dead: nothing is refused, nothing is answered. */
import type pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attentionOf } from '~/format/attention';
import { createPool } from '../../server/db/connection.js';
import { createKysely } from '../../server/db/kysely.js';
import { isLimitReached } from '../../server/db/limited.js';
import { see, takeLook } from '../../server/webhook/attention.js';
import { giveUp, noteWell, putBack, resume, settleAway, settleRefused, settleSent, takeMessage } from '../../server/webhook/outbox.js';
import { createWebhook } from '../../server/webhook/webhook.js';
import { createProxy, type Proxy } from '../bus/proxy.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { webhookStub, type WebhookStub } from '../support/webhook-stub.js';
import { condition, pace } from './world.js';

let database: TestDatabase;
let link: Proxy;
let receiver: WebhookStub;
let pool: pg.Pool;
let dead = false;
const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }) as never;
const failed = (loop: string) => lines.some((line) => line.includes(`"event":"loop_failed","loop":"${loop}"`));

beforeEach(async () => {
  [database, receiver] = await Promise.all([testDatabase(), webhookStub()]);
  link = await createProxy(database.url);
  pool = createPool(database.config({ databaseUrl: link.url, databasePoolMax: 10 }), { role: 'test', log });
  lines.length = 0;
  dead = false;
});
afterEach(async () => {
  await link.close();
  await Promise.all([pool.end(), receiver.close()]);
});

/** Its link goes dead in the midst of its third look. */
function webhook() {
  let looks = 0;
  const config = { ...database.config({ pollSeconds: 0.2, webhookGraceSeconds: 0.2 }), webhookUrl: receiver.url };
  return createWebhook({ config, pool, kysely: createKysely(pool), log, listenerUp: () => true, origin: 'https://console.example', attentionOf: (...given) => {
    if (++looks === 3) {
      link.set('hole');
      dead = true;
    }
    return attentionOf(...given);
  } });
}
const pauseQueue = () => database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('job_citations', 'ada', 'to see')`);

test('every statement over a dead link ends by itself', async () => {
  const message = { id: '00000000-0000-7000-8000-000000000000', event: '', body: '', token: '1', failures: 0 };
  const open = await Promise.all(Array.from({ length: 10 }, () => pool.connect()));
  for (const client of open) client.release();
  link.set('hole');
  const ends = await Promise.allSettled([
    takeLook(pool, 0), see(pool, [condition('listener')], pace), takeMessage(pool, 20), settleSent(pool, message), settleAway(pool, message, { trouble: '', restMs: 1, doubtful: false }),
    settleRefused(pool, message, { trouble: '', restMs: 1 }), putBack(pool, message), giveUp(pool, 1), resume(pool), noteWell(pool),
  ]);
  expect(ends.map((end) => end.status === 'rejected' && isLimitReached(end.reason))).toEqual(ends.map(() => true));
});

test('a link that goes dead in the midst of a look fails its turn; when it is mended the webhook goes on', async () => {
  const one = webhook();
  one.start();
  await until(() => failed('webhook looks') && failed('webhook'), { timeoutMs: 30_000 });
  link.set('forward');
  await pauseQueue();
  await until(() => receiver.taken.length === 1, { timeoutMs: 30_000 });
  expect(receiver.taken[0]!.body).toMatchObject({ event: 'attention.began', about: 'citations' });
  await one.stop();
});

test('a process whose link is dead can be stopped', async () => {
  const one = webhook();
  one.start();
  await until(() => dead);
  const since = performance.now();
  await one.stop();
  expect(performance.now() - since).toBeLessThan(25_000);   // a statement's limit after the pool's wait for a connection
});
