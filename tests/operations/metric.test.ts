import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { openDesk, press } from './world.js';

let database: TestDatabase;
let web: WebUnderTest;
beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { metricsToken: 'metrics-token-of-this-test' } });
});
afterAll(() => web.close());

test('what operators did and tried is counted by action and outcome, every scrape the same until something is done', async () => {
  const desk = openDesk(database);
  const scrape = async () => {
    const text = await (await fetch(`${web.url}/metrics`, { headers: { authorization: 'Bearer metrics-token-of-this-test' } })).text();
    return Object.fromEntries([...text.matchAll(/leaseboard_operator_actions_total\{action="(\w+)",outcome="(\w+)"\} (\d+)/g)].map(([, action, outcome, n]) => [`${action} ${outcome}`, Number(n)]));
  };
  expect(await scrape()).toMatchObject({ 'release applied': 0, 'release refused': 0, 'pause_queue applied': 0 });
  await press(desk, 'pause_queue', { queue: 'citations' });
  await press(desk, 'pause_queue', { queue: 'citations' });
  await press(desk, 'pause_queue', { queue: 'parse-items' });
  expect(await scrape()).toMatchObject({ 'pause_queue applied': 2, 'pause_queue refused': 1 });
  expect(await scrape()).toMatchObject({ 'pause_queue applied': 2, 'pause_queue refused': 1 });
});
