import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkInvariants } from '../../server/lease/invariants.js';
import type { StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { invariantSettings } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { history, startStub, startWorker, stopAll } from './world.js';

/** All thousand with LEASEBOARD_LONG=1; real processes: npm run repro:publish-race. */
const ROUNDS = process.env.LEASEBOARD_LONG ? 1000 : 50;

let database: TestDatabase;
let webs: WebUnderTest[];
let stub: StubOrchestrator;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  const config = { orchestratorUrl: 'http://127.0.0.1:9' };
  webs = await Promise.all([startWeb(database, { config }), startWeb(database, { config })]);
  token = await apiToken(database);
  stub = await startStub();
  await startWorker(database, stub);
});
afterAll(async () => {
  await stopAll();
  await Promise.all(webs.map((web) => web.close()));
});

async function publish(web: WebUnderTest, projectId: string, slug: string): Promise<{ status: number; code?: string; deploymentId?: string | null; attempt?: number }> {
  const response = await fetch(`${web.url}/api/projects/${projectId}/publish`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ userId: 'user-1', slug, requestedBy: 'tab' }),
  });
  return { status: response.status, ...await response.json() as object };
}

const states = async (id: string) => (await database.pool.query<{ state: string }>('select state from deployments where id = $1', [id])).rows[0]?.state;

test(`of three to twenty publishes at once over two web processes, one is accepted, ${ROUNDS} times over`, async () => {
  let id = '';
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 10 === 0;
    const project = `race-${Math.floor(round / 10)}`;
    const callers = 3 + (round * 7) % 18;
    const answers = await Promise.all(Array.from({ length: callers }, (_, n) => publish(webs[n % 2]!, project, project)));
    const winners = answers.filter((answer) => answer.status === 202);
    expect(winners).toHaveLength(1);
    const [winner] = winners;
    if (first) id = winner!.deploymentId!;
    for (const loser of answers.filter((answer) => answer !== winner)) {
      expect(loser).toMatchObject({ status: 409, code: 'publish_in_progress', deploymentId: winner!.deploymentId, attempt: winner!.attempt });
    }
    expect(winner).toMatchObject({ deploymentId: id, attempt: (round % 10) + 1 });
    await until(() => stub.builds.running.length === 1, { what: 'the build', timeoutMs: 20_000 });
    expect(stub.builds.counts.asked).toBe(round + 1);
    stub.builds.finish(stub.builds.running[0]!.buildId, round % 3 === 2 ? 'broken' : undefined);
    await until(async () => await states(id) !== 'building', { what: 'the publish to end', timeoutMs: 20_000 });
    expect(await history(database.pool, id)).toHaveLength((round % 10) + 1);
  }
  expect(await checkInvariants(database.pool, invariantSettings)).toEqual([]);
}, process.env.LEASEBOARD_LONG ? 1_800_000 : 180_000);

test('while publishes end at any moment, every refusal names the publish that held the lock', async () => {
  stub.behave({ buildMs: 5 });
  const answers: Awaited<ReturnType<typeof publish>>[] = [];
  for (let n = 0; n < (process.env.LEASEBOARD_LONG ? 400 : 40); n++) {
    answers.push(...await Promise.all([0, 1, 2, 3].map((k) => publish(webs[k % 2]!, 'storm', 'storm'))));
  }
  stub.behave({ buildMs: null });
  expect(answers.filter((answer) => ![202, 409].includes(answer.status))).toEqual([]);
  for (const answer of answers) expect(answer).toMatchObject({ deploymentId: answers[0]!.deploymentId, attempt: expect.any(Number) });
  const accepted = answers.filter((answer) => answer.status === 202).map((answer) => answer.attempt);
  expect(accepted.sort((a, b) => a! - b!)).toEqual(accepted.map((_, index) => index + 1));
});

test('of two users who race for a name one wins, and the other leaves nothing behind', async () => {
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(['ann', 'ben', 'cy'].map((who, n) => publish(webs[n % 2]!, `${who}-${round}`, `name-${round}`)));
    expect(answers.map((answer) => answer.code ?? 'accepted').sort()).toEqual(['accepted', 'slug_taken', 'slug_taken']);
    const { rows } = await database.pool.query('select count(*)::int as n from deployments where slug = $1', [`name-${round}`]);
    expect(rows[0].n).toBe(1);
  }
});
