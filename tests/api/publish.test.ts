import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { fallSilent } from '../deployments/world.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { orchestratorUrl: 'http://127.0.0.1:9', publishDeadAfterSeconds: 300, metricsToken: 'metrics-token-of-this-test' } });
  token = await apiToken(database);
});
afterAll(() => web.close());

interface Answer { status: number; headers: Headers; body: Record<string, unknown> & { deploymentId?: string; attempt?: number; detail?: string; code?: string } }

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, url = web.url): Promise<Answer> {
  const response = await fetch(`${url}/api${path}`, {
    method, headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) as Answer['body'] };
}

let serial = 0;
const project = () => `project-${++serial}`;
const publish = (projectId: string, body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  call('POST', `/projects/${projectId}/publish`, { userId: 'user-1', slug: projectId, requestedBy: 'button', ...body }, headers);
const end = (id: string, state: 'live' | 'failed', error: string | null = null) => database.pool.query(
  `update deployments set state = $2, finished_at = now(), heartbeat_at = null, worker_id = null, lease_expires_at = null, error_code = $3::text, error_message = $3::text,
          live_release = case when $2 = 'live' then jsonb_build_object('releaseId', 'r-1', 'url', 'https://x.example', 'publishNo', publish_no, 'at', now()) else live_release end where id = $1`, [id, state, error]);

describe('a publish', () => {
  test('is accepted once, and the loser is told whom to wait for and to change nothing', async () => {
    const id = project();
    const first = await publish(id);
    expect([first.status, first.body]).toEqual([202, { deploymentId: expect.any(String), attempt: 1 }]);
    expect(first.headers.get('location')).toBe(`/api/deployments/${first.body.deploymentId}/attempts/1`);
    const second = await publish(id, { requestedBy: 'agent', source: 'builder' });
    expect(second.status).toBe(409);
    expect(second.headers.get('content-type')).toMatch(/problem\+json/);
    expect(second.headers.get('retry-after')).toBe('5');
    expect(second.body).toMatchObject({
      code: 'publish_in_progress', deploymentId: first.body.deploymentId, attempt: 1, holder: { requestedBy: 'button', worker: null },
      since: expect.any(String), lastBeat: expect.any(String), reclaimableAt: expect.any(String),
    });
    for (const told of ['change nothing', `/api/deployments/${first.body.deploymentId}/attempts/1`, 'do not rename', 'the name is yours']) expect(second.body.detail).toContain(told);
    const { rows } = await database.pool.query('select code, requested_by, source, user_id from publish_refusals where project_id = $1', [id]);
    expect(rows).toEqual([{ code: 'publish_in_progress', requested_by: 'agent', source: 'builder', user_id: 'user-1' }]);
  });

  test('of a name that differs in spelling only is the same name', async () => {
    const [one, two] = [project(), project()];
    expect((await publish(one, { slug: 'Shop-One' })).status).toBe(202);
    for (const slug of ['shop-one', 'SHOP-ONE', 'ｓｈｏｐ-one', ' shop-one ']) {
      expect((await publish(two, { slug })).body.code).toBe('slug_taken');
      expect((await publish(one, { slug })).body.code).toBe('publish_in_progress');
    }
  });

  test('under a foreign name says the same whatever that app is doing, and nothing of it', async () => {
    const [owner, other] = [project(), project()];
    const { body: { deploymentId } } = await publish(owner, { userId: 'secret-owner' });
    const seen: Answer[] = [await publish(other, { slug: owner })];
    await fallSilent(database.pool, deploymentId!, 1_000);
    seen.push(await publish(other, { slug: owner }));
    await end(deploymentId!, 'live');
    seen.push(await publish(other, { slug: owner }));
    await end(deploymentId!, 'failed', 'build_failed');
    seen.push(await publish(other, { slug: owner }));
    for (const one of seen) {
      expect([one.status, one.body]).toEqual([409, { ...seen[0]!.body, code: 'slug_taken' }]);
      expect(Object.keys(one.body).sort()).toEqual(['code', 'detail', 'status', 'title', 'type']);
      expect([...one.headers.keys()].filter((name) => ['location', 'retry-after', 'etag'].includes(name))).toEqual([]);
      expect(JSON.stringify(one.body)).not.toMatch(new RegExp(`${deploymentId}|secret-owner`));
    }
    expect((await database.pool.query('select 1 from deployments where project_id = $1', [other])).rowCount).toBe(0);
  });

  test('does as much work against a foreign name whatever state its app is in', async () => {
    const [owner, other] = [project(), project()];
    const { body: { deploymentId } } = await publish(owner);
    const statements: string[][] = [];
    const counted = async () => {
      const sent = vi.spyOn(pg.Client.prototype, 'query');
      await publish(other, { slug: owner });
      const texts = sent.mock.calls.map(([first]) => typeof first === 'string' ? first : (first as { text?: string } | undefined)?.text ?? '');
      statements.push(texts.filter((text) => /deployments|publish_refusals/.test(text)));
      sent.mockRestore();
    };
    await counted();
    await fallSilent(database.pool, deploymentId!, 1_000);
    await counted();
    await end(deploymentId!, 'live');
    await counted();
    expect(statements[0]!.length).toBeGreaterThan(3);
    expect(statements.slice(1)).toEqual([statements[0], statements[0]]);
  });

  test.each([
    [{ slug: 'not a name' }, 422, 'invalid_slug'], [{ slug: 'www' }, 422, 'invalid_slug'], [{ slug: '' }, 422, 'invalid_slug'],
    [{ slug: 7 }, 400, 'invalid_publish'], [{ requestedBy: 'cron' }, 400, 'invalid_publish'], [{ userId: '' }, 400, 'invalid_publish'], [{ userId: undefined }, 400, 'invalid_publish'],
    [{ source: 'x'.repeat(201) }, 400, 'invalid_publish'],
  ])('with %j is refused and stores nothing', async (body, status, code) => {
    const id = project();
    const answer = await publish(id, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await database.pool.query('select 1 from deployments where project_id = $1', [id])).rowCount).toBe(0);
  });

  test('with text that Postgres refuses is cleaned or refused, never a 500', async () => {
    const id = project();
    expect((await publish(id, { userId: 'a\0b', source: '\ud800' })).status).toBe(202);
    expect((await call('POST', `/projects/${id}/publish`, '{"userId":')).status).toBe(400);
    expect((await call('POST', '/projects/%00/publish', { userId: 'u', slug: 'a-b', requestedBy: 'tab' })).status).toBe(400);
  });

  test('is answered again for the same key, and refused for another body under it', async () => {
    const id = project();
    const headers = { 'idempotency-key': 'key-1' };
    const first = await publish(id, {}, headers);
    const again = await publish(id, {}, headers);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([202, first.body, 'true']);
    expect((await publish(id, { requestedBy: 'tab' }, headers)).body.code).toBe('idempotency_mismatch');
    expect((await database.pool.query('select 1 from publish_refusals where project_id = $1', [id])).rowCount).toBe(0);
  });

  test('is refused while the queue is paused, and where no orchestrator is configured', async () => {
    await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('deployments', 'ada', 'hosting moves')`);
    const paused = await publish(project());
    await database.pool.query('delete from queue_pauses');
    expect([paused.status, paused.body.code, paused.headers.get('retry-after')]).toEqual([503, 'queue_paused', '60']);
    const bare = await startWeb(database);
    const answer = await call('POST', '/projects/p/publish', { userId: 'u', slug: 'a-b', requestedBy: 'tab' }, {}, bare.url);
    await bare.close();
    expect([answer.status, answer.body.code]).toEqual([503, 'publish_not_configured']);
  });

  test('that was refused is counted by the code of its answer', async () => {
    const counted = async () => {
      const text = await (await fetch(`${web.url}/metrics`, { headers: { authorization: 'Bearer metrics-token-of-this-test' } })).text();
      return Number(/leaseboard_publish_refused_total\{code="publish_in_progress"\} (\d+)/.exec(text)?.[1]);
    };
    const id = project();
    await publish(id);
    const before = await counted();
    await publish(id);
    await publish(id);
    expect(await counted()).toBe(before + 2);
    expect(await counted()).toBe(before + 2);
  });

  test('under a fixed name says the name', async () => {
    const id = project();
    const { body } = await publish(id);
    await end(body.deploymentId!, 'live');
    const answer = await publish(id, { slug: 'another' });
    expect([answer.status, answer.body.code, answer.body.slug]).toEqual([422, 'slug_fixed', id]);
  });
});

describe('a follower', () => {
  test('sees its own attempt and no error of another', async () => {
    const id = project();
    const { body: { deploymentId } } = await publish(id);
    await end(deploymentId!, 'failed', 'build_failed');
    expect((await call('GET', `/deployments/${deploymentId}`)).body).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'build_failed' }, lock: null, liveRelease: null });
    await publish(id, { requestedBy: 'tab' });
    const now = await call('GET', `/deployments/${deploymentId}`);
    expect(now.body).toMatchObject({ state: 'building', attempt: 2, error: null, requestedBy: 'tab', lock: { worker: null, cancelRequested: false } });
    expect(JSON.stringify(now.body)).not.toContain('build_failed');
    expect((await call('GET', `/deployments/${deploymentId}/attempts/1`)).body).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'build_failed' } });
    expect((await call('GET', `/deployments/${deploymentId}/attempts/2`)).body).toMatchObject({ state: 'building', attempt: 2, error: null });
    await end(deploymentId!, 'live');
    await publish(id);
    const third = await call('GET', `/deployments/${deploymentId}`);
    expect(third.body).toMatchObject({ state: 'building', attempt: 3, liveRelease: { attempt: 2, url: 'https://x.example' } });
    expect((await call('GET', `/deployments/${deploymentId}/attempts/2`)).body).toMatchObject({ state: 'live', release: { releaseId: 'r-1', attempt: 2 } });
    await fallSilent(database.pool, deploymentId!, 1000);
    await publish(id);
    expect((await call('GET', `/deployments/${deploymentId}/attempts/3`)).body).toMatchObject({ state: 'failed', error: { code: 'lost' } });
  });

  test('polls for nothing while nothing changes', async () => {
    const { body: { deploymentId } } = await publish(project());
    const { headers } = await call('GET', `/deployments/${deploymentId}`);
    expect((await call('GET', `/deployments/${deploymentId}`, undefined, { 'if-none-match': headers.get('etag')! })).status).toBe(304);
  });

  test('is told when there is nothing of that name', async () => {
    const { body: { deploymentId } } = await publish(project());
    for (const path of ['/deployments/x', '/deployments/00000000-0000-7000-8000-000000000000', `/deployments/${deploymentId}/attempts/2`, `/deployments/${deploymentId}/attempts/x`, '/deployments/x/attempts/1']) {
      expect([path, (await call('GET', path)).status]).toEqual([path, 404]);
    }
  });
});

describe('a cancel', () => {
  test('asks the publish that runs, and only that one', async () => {
    const { body: { deploymentId } } = await publish(project());
    expect((await call('POST', `/deployments/${deploymentId}/cancel`, { attempt: 2 })).body).toMatchObject({ code: 'finished', attempt: 1 });
    const answer = await call('POST', `/deployments/${deploymentId}/cancel`);
    expect([answer.status, answer.body]).toEqual([202, { deploymentId, attempt: 1 }]);
    expect((await call('GET', `/deployments/${deploymentId}`)).body).toMatchObject({ state: 'building', lock: { cancelRequested: true } });
    await end(deploymentId!, 'failed', 'cancelled');
    const late = await call('POST', `/deployments/${deploymentId}/cancel`, {});
    expect([late.status, late.body.code]).toEqual([409, 'finished']);
    expect((await call('POST', '/deployments/00000000-0000-7000-8000-000000000000/cancel')).status).toBe(404);
    expect((await call('POST', `/deployments/${deploymentId}/cancel`, { attempt: 'all' })).status).toBe(400);
  });
});
