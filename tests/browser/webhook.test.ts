/** What people see of the webhook: on Now when it takes nothing, and under Settings. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet } from '../lifecycle/fleet.js';
import { testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { answers, SECRET, takes, webhookStub, type WebhookStub } from '../support/webhook-stub.js';

const browser = testBrowser();
let database: TestDatabase;
let receiver: WebhookStub;
let fleet: Fleet;
beforeAll(async () => {
  await requireBuiltConsole();
  [database, receiver] = await Promise.all([testDatabase(), webhookStub()]);
  fleet = await startFleet(database.url);
}, 300_000);
afterAll(async () => {
  await fleet?.end();
  await receiver.close();
}, 60_000);

test('a webhook that takes nothing is said on Now and under Settings, by its host alone, until it takes again; unset, Settings says how to set it', { timeout: 300_000 }, async () => {
  receiver.behave(answers(503));
  const web = await fleet.web({ WEBHOOK_URL: receiver.url, WEBHOOK_GRACE_SECONDS: '5' });   // no listener takes so long to come up
  const { cookie } = await signedIn(database, 'operator');
  await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('job_citations', 'ada', 'the model costs too much today')`);
  await until(async () => (await database.pool.query(`update webhook set failing_since = now() - interval '12 minutes' where failing_since is not null`)).rowCount === 1, { what: 'the webhook has failed', timeoutMs: 60_000 });
  const now = await browser.tab(`${web.url}/`, { cookie });
  await untilFeed(now, 'live');
  await untilText(now, '[data-attention=webhook]', /The webhook has not taken messages for 12 m.*127\.0\.0\.1:\d+ answered 503 · 1 message waits.*npx leaseboard webhook test/s);
  const settings = await browser.tab(`${web.url}/settings/webhook`, { cookie });
  await untilText(settings, 'main', /failing\s*· 127\.0\.0\.1:\d+\shas not taken messages for 12 m \d+ s: it answered 503.*has taken no message yet · last failed .* ago · 1 message waits/s);
  for (const path of ['', 'settings/webhook']) {
    const narrow = await browser.tab(`${web.url}/${path}`, { cookie, theme: 'dark', width: 390 });
    expect([path, await narrow.evaluate(() => [...document.querySelectorAll('main .card')].filter((card) => card.scrollWidth > card.clientWidth).length)]).toEqual([path, 0]);
  }
  expect(await now.content() + await settings.content()).not.toContain(SECRET);

  receiver.behave(takes);
  await database.pool.query('update webhook set retry_at = now()');
  await until(() => receiver.taken.length === 1);
  await until(async () => (await now.locator('[data-attention=webhook]').count()) === 0, { what: 'Now has forgotten it', timeoutMs: 30_000 });
  await settings.reload();
  await untilText(settings, 'main', /well\s*· 127\.0\.0\.1:\d+\sis told of what needs attention\..*last took a message \d+ s ago.*none waits/s);

  await database.pool.query('update webhook set last_sent_at = null');
  await settings.reload();
  await untilText(settings, 'main', /untried\s*· 127\.0\.0\.1:\d+\sis told of what needs attention\..*has taken no message yet/s);

  const silent = await fleet.web();
  const unset = await browser.tab(`${silent.url}/settings/webhook`, { cookie });
  await untilText(unset, 'main', /nobody is told of what needs attention\..*Set WEBHOOK_URL/s);
});
