/** The webhook over real web processes that are killed, restarted and redeployed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireBuiltConsole } from '../http/built-console.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { hangs, SECRET, takes, webhookStub, type Behaviour, type Told, type WebhookStub } from '../support/webhook-stub.js';

let database: TestDatabase;
let receiver: WebhookStub;
beforeAll(async () => {
  await requireBuiltConsole();
  [database, receiver] = await Promise.all([testDatabase(), webhookStub()]);
}, 300_000);
afterAll(() => receiver.close());

async function startWeb(version: string): Promise<TestProcess> {
  const web = startProcess('server/main/web.js', {
    DATABASE_URL: database.url, SESSION_SECRET: 'x'.repeat(40), PORT: '0', PUBLIC_URL: 'https://console.example/', NODE_ENV: 'production', APP_VERSION: version, DRAIN_SECONDS: '5',
    INLINE_AFTER_SECONDS: '86400', POLL_SECONDS: '0.2', WEBHOOK_URL: receiver.url, WEBHOOK_GRACE_SECONDS: '1', READ_ONLY: 'true',
  });
  await web.says(/"event":"listening"/);
  return web;
}

async function end(web: TestProcess): Promise<void> {
  web.kill('SIGTERM');
  expect(await web.ended).toEqual({ code: 0, signal: null });
}

const pauseQueue = (queue: string) => database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ($1, 'ada', 'to see')`, [queue]);
const looks = async () => Number((await database.pool.query<{ look: string }>('select look from webhook')).rows[0]!.look);
async function afterLooks(n: number): Promise<void> {
  const before = await looks();
  await until(async () => await looks() >= before + n, { what: `${n} looks` });
}
/** On a busy machine a process that starts may also tell that its listener is not up yet. */
const isOfPause = ({ body }: Told) => body.kind === 'queue_paused';
const asked = () => receiver.asked.filter(isOfPause);
const taken = () => receiver.taken.filter(isOfPause);
const told = () => taken().map(({ body }) => `${body.event} ${body.about}`);
const hangsOnPauses: Behaviour = (one, response) => (isOfPause(one) ? hangs : takes)(one, response);

test('two web processes tell once, and a redeploy of both tells nothing again; a killed sender is followed by another; the end is told once', async () => {
  const old = await Promise.all([startWeb('v1'), startWeb('v1')]);
  await pauseQueue('job_citations');
  await until(() => taken().length === 1);
  expect(taken()[0]!.body).toMatchObject({ event: 'attention.began', kind: 'queue_paused', url: 'https://console.example/queues/citations?state=queued' });
  const sender = await startWeb('v2');
  await Promise.all(old.map(end));
  await afterLooks(5);
  expect(told()).toEqual(['attention.began citations']);

  receiver.behave(hangsOnPauses);
  await pauseQueue('deployments');
  await until(() => asked().length === 2);
  sender.kill('SIGKILL');
  await sender.ended;
  await database.pool.query(`update webhook_messages set sender_expires_at = now() + interval '1 hour' where sender_expires_at is not null`);   // however slowly the next ones start
  receiver.behave(takes);
  const next = await Promise.all([startWeb('v2'), startWeb('v2')]);
  await afterLooks(5);
  expect(asked()).toHaveLength(2);   // the dead sender's time is not over
  await database.pool.query(`update webhook_messages set sender_expires_at = now() where sender_expires_at is not null`);
  await until(() => taken().length === 2);
  expect(new Set(asked().slice(1).map(({ headers, text }) => `${headers['idempotency-key']} ${text}`)).size).toBe(1);

  await database.pool.query('delete from queue_pauses');
  await until(() => taken().length === 4);
  await afterLooks(5);
  expect(told().slice(2).sort()).toEqual(['attention.ended citations', 'attention.ended deployments']);
  await Promise.all(next.map(end));
  expect([...old, sender, ...next].map((web) => web.stdout() + web.stderr()).join('')).not.toContain(SECRET);
}, 120_000);

test('a receiver that hangs does not keep a process from stopping, and a fault of the address is told with the others, without it', async () => {
  receiver.behave(hangsOnPauses);
  const [before, web] = [asked().length, await startWeb('v3')];
  await pauseQueue('parse_jobs');
  await until(() => asked().length > before);
  const since = performance.now();
  await end(web);
  expect(performance.now() - since).toBeLessThan(8_000);
  const wrong = startProcess('server/main/web.js', { DATABASE_URL: database.url, SESSION_SECRET: 'x'.repeat(40), PORT: 'none', WEBHOOK_URL: `ftp://files.example/${SECRET}` });
  expect((await wrong.ended).code).toBe(1);
  expect(wrong.stderr()).toMatch(/2 faults[\s\S]*WEBHOOK_URL: expected a URL starting with http:\/\/ or https:\/\/, found something else/);
  expect(wrong.stderr()).not.toContain(SECRET);
}, 60_000);
