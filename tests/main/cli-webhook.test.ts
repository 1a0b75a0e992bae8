import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { startProcess } from '../support/processes.js';
import { answers, SECRET, takes, webhookStub, type WebhookStub } from '../support/webhook-stub.js';

let database: TestDatabase;
let receiver: WebhookStub;
beforeAll(async () => { [database, receiver] = await Promise.all([testDatabase(), webhookStub()]); });
afterAll(() => receiver.close());

async function leaseboard(args: string[], env: Record<string, string> = { WEBHOOK_URL: receiver.url, PUBLIC_URL: 'https://console.example/' }) {
  const run = startProcess('server/main/cli.js', { DATABASE_URL: database.url, ...env }, { args });
  const { code } = await run.ended;
  expect(run.stdout() + run.stderr()).not.toContain(SECRET);
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}
const doctor = async (env?: Record<string, string>) => /^.*webhook .*$/m.exec((await leaseboard(['doctor'], env)).stdout)?.[0];

it('webhook test sends one message and says whether it was taken; the address is never shown', { timeout: 120_000 }, async () => {
  expect(await leaseboard(['webhook', 'test'])).toEqual({ code: 0, stdout: `${receiver.host} took the test message.\n`, stderr: '' });
  expect(receiver.taken[0]!.body).toEqual({ event: 'webhook.test', id: receiver.taken[0]!.headers['idempotency-key'], text: expect.stringMatching(/test message.*Nothing needs to be done/), url: 'https://console.example/' });
  receiver.behave(answers(403));
  expect(await leaseboard(['webhook', 'test'])).toEqual({ code: 1, stdout: `${receiver.host} did not take the test message: it refused with 403. Check WEBHOOK_URL and its receiver.\n`, stderr: '' });
  expect(await leaseboard(['webhook', 'test'], {})).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('WEBHOOK_URL is not set for this command') });
});

it('doctor says whether it is configured, when it last took a message, and since when it takes none', { timeout: 120_000 }, async () => {
  await database.pool.query('update webhook set last_sent_at = null');
  expect(await doctor({})).toMatch(/^ok +webhook +not configured; set WEBHOOK_URL/);
  expect(await doctor()).toBe(`ok   webhook        ${receiver.host}, nothing was sent yet; try it with npx leaseboard webhook test`);
  await database.pool.query(`update webhook set last_sent_at = '2026-03-01T08:00:00Z', failing_since = '2026-03-01T09:00:00Z', failures = 4, last_failure_at = '2026-03-01T10:00:00Z', last_failure = 'answered 503'`);
  expect(await doctor()).toBe(`bad  webhook        ${receiver.host} has not taken messages since 2026-03-01T09:00:00Z (it answered 503); last took a message at 2026-03-01T08:00:00Z; 0 waiting; check WEBHOOK_URL and its receiver, then npx leaseboard webhook test`);
  receiver.behave(takes);
  await leaseboard(['webhook', 'test']);
  expect(await doctor()).toMatch(/^ok +webhook +.*, last took a message at 20.*, last failed at 2026-03-01T10:00:00Z; try it/);
});
