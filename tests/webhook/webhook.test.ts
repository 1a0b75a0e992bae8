import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import { attentionOf } from '~/format/attention';
import { readNow } from '../../server/console/now.js';
import { readOnly } from '../../server/console/read.js';
import { readWebhookState } from '../../server/console/webhook-state.js';
import { createKysely } from '../../server/db/kysely.js';
import type { AttentionOf } from '../../server/webhook/conditions.js';
import { createWebhook, GIVE_UP_SECONDS, type Webhook } from '../../server/webhook/webhook.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, sql } from '../support/factories.js';
import { until } from '../support/until.js';
import { answers, hangs, SECRET, takes, webhookStub, type WebhookStub } from '../support/webhook-stub.js';
import { clear, pass } from './world.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
let receiver: WebhookStub;
let running: Webhook[] = [];
const lines: string[] = [];
beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});
beforeEach(async () => {
  receiver = await webhookStub();
  lines.length = 0;
  await database.pool.query('truncate queue_pauses, parse_jobs cascade');
  await clear(database);
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  await receiver.close();
});

/** The webhook of a further web process. */
function start(more: { listenerUp?: () => boolean; attentionOf?: AttentionOf } = {}): Webhook {
  const config = { ...database.config({ pollSeconds: 0.2, webhookGraceSeconds: 1 }), webhookUrl: receiver.url };
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }) as never;
  const webhook = createWebhook({ config, pool: database.createPool(), kysely, log, listenerUp: () => true, attentionOf, origin: 'https://console.example', ...more });
  running.push(webhook);
  webhook.start();
  return webhook;
}

const pauseQueue = (queue: string) => database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ($1, 'ada@example.com', 'the file thesis-of-ada.pdf')`, [queue]);
const resumeQueue = (queue: string) => database.pool.query('delete from queue_pauses where queue = $1', [queue]);
const taken = () => receiver.taken.map(({ body }) => `${body.event} ${body.about}`);
const looks = async () => Number((await database.pool.query<{ look: string }>('select look from webhook')).rows[0]!.look);
/** So many further looks were made, by whomever. */
async function afterLooks(n: number): Promise<void> {
  const before = await looks();
  await until(async () => await looks() >= before + n, { what: `${n} looks` });
}
const queued = async () => Number((await database.pool.query<{ n: string }>('select count(*) as n from webhook_messages')).rows[0]!.n);
const now = () => readNow(kysely, { ...database.config(), webhookUrl: receiver.url });

test('of several processes one tells that something began, and one that it is over, in the words of Now and without what people wrote', async () => {
  for (let n = 0; n < 3; n++) start();
  await pauseQueue('job_citations');
  await until(() => receiver.taken.length === 1);
  await afterLooks(7);
  await resumeQueue('job_citations');
  await until(() => receiver.taken.length === 2);
  await afterLooks(7);
  expect(taken()).toEqual(['attention.began citations', 'attention.ended citations']);
  const [began, ended] = receiver.taken.map(({ body }) => body);
  const [item] = attentionOf({ ...await now(), queues: (await now()).queues.map((queue) => ({ ...queue, paused: queue.table === 'job_citations' ? { at: 0, by: '', reason: '' } : null })) }, 1);
  expect(began).toMatchObject({ kind: 'queue_paused', severity: 'notice', text: `${item!.what}. ${item!.advice}`, url: 'https://console.example/queues/citations?state=queued', endedAt: null });
  expect(ended).toMatchObject({ kind: 'queue_paused', attentionId: began!.attentionId, text: expect.stringMatching(/^Over after \d+ s: Citations is paused\.$/) });
  expect(receiver.taken.map(({ headers, body }) => headers['idempotency-key'] === body.id)).toEqual([true, true]);
  expect(receiver.asked.map(({ text }) => text).join()).not.toMatch(/ada@|thesis/);   // an id may well have "ada" in it
});

test('rows in trouble are told by their ids, never by the file, the user or the text', async () => {
  const named = { filename: 'thesis-of-ada.pdf', user_id: 'ada@example.com', error_message: 'the words of ada' };
  await insertParseItem(database.pool, { ...named, state: 'running', lease_expires_at: sql(`now() - interval '42 seconds'`) });
  const poison = await insertParseItem(database.pool, { ...named, state: 'failed', error_code: 'worker_lost', lost_leases: 10 });
  start();
  await until(() => receiver.taken.length === 3);
  expect(receiver.taken.map(({ body }) => [body.kind, body.about, body.severity]).sort()).toEqual([['no_worker', 'parse', 'alarm'], ['row_kills_workers', poison.id, 'notice'], ['stale_lease', null, 'alarm']]);
  expect(receiver.taken.map(({ body }) => body.text).sort()).toEqual([
    expect.stringMatching(/^No live worker can parse: nobody takes this work: .* Start a worker/), expect.stringMatching(/^Parse item failed: every worker that took it died: 10 leases lost/), expect.stringMatching(/^Parse item lost its worker: lease ended \d+ .* ago/)]);
  expect(receiver.asked.map(({ text }) => text).join()).not.toMatch(/ada@|thesis|the words/);
});

test('a listener that is down is told by the process that knows, whoever else looks', async () => {
  start();
  let up = false;
  start({ listenerUp: () => up });
  await until(() => receiver.taken.some(({ body }) => body.kind === 'listener_down'));
  up = true;
  await until(() => receiver.taken.length === 2);
  await afterLooks(5);
  expect(receiver.taken.map(({ body }) => `${body.event} ${body.kind}`)).toEqual(['attention.began listener_down', 'attention.ended listener_down']);
});

test('looks that take longer than the time between two are told of', async () => {
  let [slow, begun] = [true, 0];
  const untilOvertaken: AttentionOf = async (view, at) => {
    const mine = ++begun;
    await until(() => !slow || begun > mine);   // the next look is under way
    return attentionOf(view, at);
  };
  for (let n = 0; n < 2; n++) start({ attentionOf: untilOvertaken });
  await pauseQueue('job_citations');
  await until(() => receiver.taken.length === 1);
  slow = false;
  expect(taken()).toEqual(['attention.began citations']);
});

test('a receiver that takes its time keeps nobody from looking: what begins meanwhile waits to be sent', async () => {
  let answer = () => {};
  receiver.behave((told, response) => { answer = () => takes(told, response); });
  start();
  await pauseQueue('job_citations');
  await until(() => receiver.asked.length === 1);
  await pauseQueue('deployments');
  await until(async () => await queued() === 2, { timeoutMs: 5_000 });
  expect(receiver.taken).toHaveLength(0);
  receiver.behave(takes);
  answer();
  await until(() => receiver.taken.length === 2);
  expect(taken()).toEqual(['attention.began citations', 'attention.began deployments']);
});

test('a receiver that is down for a while misses nothing, and Now says meanwhile since when', async () => {
  receiver.behave(answers(503));
  start();
  await pauseQueue('job_citations');
  await pauseQueue('deployments');
  await until(() => receiver.asked.length === 1);
  await until(async () => (await readOnly(kysely, (reader) => readWebhookState(reader, receiver.url))).failingSince);
  await afterLooks(5);
  expect(receiver.asked).toHaveLength(1);   // it rests: it is not asked at every turn
  expect((await now()).webhook).toBeNull();   // one failed try is not worth a look
  await database.pool.query(`update webhook set failing_since = now() - interval '12 minutes'`);
  const items = attentionOf(await now(), (await now()).asOf);
  expect(items.find(({ key }) => key === 'webhook')).toMatchObject({ what: expect.stringMatching(/^The webhook has not taken messages for 12 m/), why: `${receiver.host} answered 503 · 2 messages wait` });
  receiver.behave(takes);
  await pass(database, 10);
  await until(() => receiver.taken.length === 2);
  expect(taken().sort()).toEqual(['attention.began citations', 'attention.began deployments']);
  await until(async () => (await now()).webhook === null);
});

test('a receiver that failed, and of which nothing is wanted now, is no trouble on Now', async () => {
  await database.pool.query(`update webhook set failing_since = now() - interval '12 minutes', failures = 2, last_failure = 'answered 503'`);
  expect((await now()).webhook).toBeNull();
});

test('a refusal is not tried again quickly, and does not stop other messages', async () => {
  receiver.behave((told, response) => answers(told.body.about === 'citations' ? 404 : 204)(told, response));
  start();
  await pauseQueue('job_citations');
  await until(() => receiver.asked.length === 1);
  await pauseQueue('deployments');
  await until(() => receiver.taken.length === 1);
  await afterLooks(7);
  expect(receiver.asked.map(({ body }) => body.about)).toEqual(['citations', 'deployments']);
  expect(lines.join('')).toMatch(/refused with 404; the message waits\. Check WEBHOOK_URL/);
});

test('stopping ends a call that hangs at once, and another process sends its message', async () => {
  receiver.behave(hangs);
  const first = start();
  await pauseQueue('job_citations');
  await until(() => receiver.asked.length === 1);
  const since = performance.now();
  await first.stop();
  expect(performance.now() - since).toBeLessThan(3_000);
  receiver.behave(takes);
  start();
  await until(() => receiver.taken.length === 1);
  expect(receiver.asked.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(2).fill(receiver.taken[0]!.body.id));
  expect(receiver.asked[1]!.text).toBe(receiver.asked[0]!.text);
});

test('a restart tries at once: the address may have been put right', async () => {
  receiver.behave(answers(401));
  const first = start();
  await pauseQueue('job_citations');
  await until(async () => (await readOnly(kysely, (reader) => readWebhookState(reader, receiver.url))).trouble === 'refused with 401');
  await first.stop();
  receiver.behave(takes);
  start();
  await until(() => receiver.taken.length === 1);
});

test('what nobody took for hours is given up and said; while it stands it is told anew, and resumes by itself', async () => {
  receiver.behave(answers(500));
  start();
  await pauseQueue('job_citations');
  await until(() => receiver.asked.length === 1);
  await until(async () => (await readOnly(kysely, (reader) => readWebhookState(reader, receiver.url))).failingSince);
  await database.pool.query(`update webhook_messages set created_at = now() - make_interval(secs => $1)`, [GIVE_UP_SECONDS + 1]);
  await until(() => lines.some((line) => line.includes('webhook_given_up')));
  receiver.behave(takes);
  await pass(database, 10);
  await until(() => receiver.taken.length === 1);
  expect(receiver.taken[0]!.body).toMatchObject({ event: 'attention.began', about: 'citations' });
  expect(receiver.taken[0]!.body.id).not.toBe(receiver.asked[0]!.body.id);
});

test('of the address only the host is ever logged, and no log line repeats a message', async () => {
  receiver.behave((told, response) => answers({ citations: 404, deployments: 503 }[told.body.about as string] ?? 204)(told, response));
  start();
  for (const queue of ['job_citations', 'parse_jobs']) await pauseQueue(queue);
  const logged = (event: string, more: string) => lines.some((line) => line.includes(`"event":"${event}","host":"${receiver.host}"`) && line.includes(more));
  await until(() => logged('webhook_sent', 'attention.began') && logged('webhook_failed', 'refused with 404'));
  await pauseQueue('deployments');
  await until(() => logged('webhook_failed', 'answered 503'));
  expect(lines.filter((line) => line.includes(SECRET) || /is paused|ada@example|loop_failed/.test(line))).toEqual([]);
});
