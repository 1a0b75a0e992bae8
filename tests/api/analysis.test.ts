import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { startChecker, stopCheckers } from '../citations/checking.js';
import { awaitingAnalysis } from '../citations/rows.js';
import { storeThesis } from '../citations/stored-thesis.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertRow, sql } from '../support/factories.js';
import { until } from '../support/until.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
  token = await apiToken(database);
});
afterEach(stopCheckers);
afterAll(() => web.close());

test.each<[string, string | undefined, string, number, RegExp]>([
  ['broken JSON', 'application/json', '{"userId":', 400, /its body is not JSON.*Check its quotes/],
  ['a text alone', 'application/json', '"u1"', 400, /not JSON, or no object/],
  ['JSON that is declared as a form, as curl -d does', 'application/x-www-form-urlencoded', '{"userId":"u1"}', 400, /declared as application\/x-www-form-urlencoded, not as JSON.*Content-Type: application\/json/],
  ['more than it may have', 'application/json', JSON.stringify({ userId: 'u'.repeat(70_000) }), 413, /longer than 64kb/],
  ['no body at all', undefined, '', 400, /userId is missing/],
])('%s is told what is wrong with it', async (_what, type, body, status, detail) => {
  for (const path of ['/analysis-jobs', '/resolve-sources']) {
    const response = await fetch(`${web.url}/api${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...(type ? { 'content-type': type } : {}) }, body: type ? body : undefined });
    expect([path, response.status, await response.json()]).toMatchObject([path, status, { code: 'invalid_request', detail: expect.stringMatching(detail) }]);
  }
});

interface Answer { status: number; headers: Headers; body: any }

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${web.url}/api${path}`, {
    method, headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

const user = () => `user-${uuidv7()}`;
/** A user's thesis, linked to their session as an upload would have it. */
async function uploaded(userId = user(), sessionId = 's') {
  const { id } = await insertDocument(database.pool, { user_id: userId });
  await insertRow(database.pool, 'session_sources', { user_id: userId, session_id: sessionId, document_id: id, linked_by: 'upload' });
  return { userId, sessionId, thesisDocumentId: id };
}
const links = async (userId: string) => (await database.pool.query('select document_id from session_sources where user_id = $1', [userId])).rowCount;

describe('an analysis', () => {
  test('is started once: of two that ask at once the other is told whose to wait for', async () => {
    const owner = await uploaded();
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/analysis-jobs', owner)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(1);
    const { jobId } = accepted[0]!.body;
    expect(accepted[0]!.headers.get('location')).toBe(`/api/analysis-jobs/${jobId}`);
    for (const { status, body } of answers.filter((answer) => answer !== accepted[0])) expect([status, body.code, body.jobId]).toEqual([409, 'analysis_in_progress', jobId]);
    expect((await database.pool.query('select 1 from analysis_jobs where user_id = $1', [owner.userId])).rowCount).toBe(1);
  });

  test('is replayed for the same key, and refused for the same key with another body', async () => {
    const owner = await uploaded();
    const key = { 'idempotency-key': uuidv7() };
    const first = await call('POST', '/analysis-jobs', owner, key);
    const again = await call('POST', '/analysis-jobs', owner, key);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([202, first.body, 'true']);
    expect((await call('POST', '/analysis-jobs', { ...owner, sessionId: 'other' }, key)).body.code).toBe('idempotency_mismatch');
  });

  test('of a thesis that is unknown, foreign or no id at all is answered alike', async () => {
    const [mine, other] = [await uploaded(), await uploaded()];
    const answers = await Promise.all([uuidv7(), other.thesisDocumentId, 'thesis.pdf'].map((thesisDocumentId) => call('POST', '/analysis-jobs', { ...mine, thesisDocumentId })));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test('has no sources only where nothing was ever uploaded or its user has reset it', async () => {
    const owner = await uploaded();
    expect((await call('POST', '/analysis-jobs', { ...owner, sessionId: 'empty' })).body.code).toBe('sources_unavailable');
    await insertParseItem(database.pool, { user_id: owner.userId, session_id: 'unreadable', state: 'failed' });
    expect((await call('POST', '/analysis-jobs', { ...owner, sessionId: 'unreadable' })).status).toBe(202);
    expect((await call('DELETE', `/sessions/s/sources?userId=${owner.userId}`)).body).toEqual({ unlinked: 1 });
    expect((await call('POST', '/analysis-jobs', owner)).body.code).toBe('sources_unavailable');
    expect((await call('POST', '/resolve-sources', { userId: owner.userId, sessionId: 's', documentIds: [owner.thesisDocumentId] })).body).toMatchObject({ linked: 1 });
    expect((await call('POST', '/analysis-jobs', owner)).status).toBe(202);
  });

  test.each([[{}], [{ userId: 'a' }], [{ userId: 'a', sessionId: ' ', thesisDocumentId: 'x' }], [{ userId: 'a\u0007', sessionId: 's', thesisDocumentId: 'x' }], [[]], ['x']])('that cannot be read is refused: %j', async (body) => {
    expect((await call('POST', '/analysis-jobs', body)).status).toBe(400);
  });
});

describe('its state and its report', () => {
  test('count what is done, say what is true before the end, and give each citation one verdict with its evidence', { timeout: 90_000 }, async () => {
    const thesis = await storeThesis(database.pool, { citations: 12 });
    const { body: { jobId } } = await call('POST', '/analysis-jobs', { userId: thesis.userId, sessionId: thesis.sessionId, thesisDocumentId: thesis.thesisId });
    expect((await call('GET', `/analysis-jobs/${jobId}`)).body).toMatchObject({ state: 'queued', claims: { total: 0, done: 0 }, survivedRedeploys: 0, startedAt: null, finishedAt: null });
    expect((await call('GET', `/analysis-jobs/${jobId}/report`)).body).toMatchObject({ status: 409, code: 'not_finished', state: 'queued' });
    await startChecker(database);
    const end = await until(async () => {
      const answer = await call('GET', `/analysis-jobs/${jobId}`);
      return answer.body.finishedAt !== null && answer;
    }, { timeoutMs: 60_000, what: 'the end' });
    const total = thesis.key.length;
    expect(end.body).toMatchObject({ state: 'succeeded', claims: { total, done: total }, error: null });
    expect((await call('GET', `/analysis-jobs/${jobId}`, undefined, { 'if-none-match': end.headers.get('etag')! })).status).toBe(304);

    const { body: report } = await call('GET', `/analysis-jobs/${jobId}/report`);
    expect(report).toMatchObject({ jobId, state: 'succeeded', judge: 'offline-lexical', marks: { seen: total, resolved: total }, claims: total, thesisDocumentId: thesis.thesisId });
    expect(Object.values(report.counts as Record<string, number>).reduce((sum, n) => sum + n)).toBe(total);
    expect(report.counts.source_missing).toBe(thesis.key.filter(({ verdict }) => verdict === 'source_missing').length);
    for (const { verdict, judge, cited, evidence, claim } of report.verdicts) {
      expect(thesis.key.map(({ sentence }) => sentence)).toContain(claim.text);
      expect([judge, cited.filename === null]).toEqual(verdict === 'source_missing' ? [null, true] : ['offline-lexical', false]);
      for (const { documentId, page, quote } of evidence) expect(thesis.pages.get(documentId)![page - 1]).toContain(quote);
    }
  });

  test('call a citation whose check failed not checked, and count the redeploys that overlap', async () => {
    const { jobId, citationIds: [good, bad] } = await awaitingAnalysis(database.pool, user(), 2);
    await database.pool.query(`update job_citations set state = 'succeeded', finished_at = now(), verdict = 'supported', confidence = 0.5, evidence = '[]', judge = 'test' where id = $1`, [good]);
    await database.pool.query(`update job_citations set state = 'failed', finished_at = now(), error_code = 'model_refused', error_message = 'No.' where id = $1`, [bad]);
    await database.pool.query(`update analysis_jobs set state = 'succeeded', open_children = 0, succeeded_children = 1, finished_at = now(), created_at = now() - interval '1 hour' where id = $1`, [jobId]);
    const redeploy = (from: string, to: string | null) => insertRow(database.pool, 'redeploys', {
      id: uuidv7(), role: 'worker', from_version: 'v1', to_version: uuidv7(), started_at: sql(`now() - interval '${from}'`), ended_at: to === null ? null : sql(`now() - interval '${to}'`),
    });
    await redeploy('3 hours', '2 hours');
    await redeploy('2 hours', '30 minutes');
    await redeploy('20 minutes', null);
    const { body } = await call('GET', `/analysis-jobs/${jobId}/report`);
    expect(body).toMatchObject({ survivedRedeploys: 2, counts: { supported: 1, not_checked: 1 }, verdicts: [{ verdict: 'supported', error: null }, { verdict: 'not_checked', evidence: [], error: { code: 'model_refused' } }] });
  });

  test('of an unknown or malformed id do not exist', async () => {
    for (const id of [uuidv7(), 'x']) for (const path of ['', '/report']) expect((await call('GET', `/analysis-jobs/${id}${path}`)).body.code).toBe('job_not_found');
  });
});

describe('sources', () => {
  test('are linked all or none, and only the user\'s own', async () => {
    const [mine, other] = [await uploaded(), await uploaded()];
    const link = (documentIds: unknown) => call('POST', '/resolve-sources', { userId: mine.userId, sessionId: 'new', documentIds });
    for (const ids of [[mine.thesisDocumentId, other.thesisDocumentId], [mine.thesisDocumentId, uuidv7()], ['x']]) expect((await link(ids)).body.code).toBe('document_not_found');
    for (const ids of [[], 'x', undefined]) expect((await link(ids)).status).toBe(400);
    expect(await links(mine.userId)).toBe(1);
    expect((await link([mine.thesisDocumentId, mine.thesisDocumentId])).body).toEqual({ linked: 1, documentIds: [mine.thesisDocumentId] });
    expect(await links(mine.userId)).toBe(2);
  });

  test('are unlinked one or all by their user alone, and foreign, unknown and malformed ids unlink nothing', async () => {
    const [mine, other] = [await uploaded(), await uploaded()];
    for (const id of [other.thesisDocumentId, uuidv7(), 'x']) expect((await call('DELETE', `/sessions/s/sources/${id}?userId=${mine.userId}`)).body).toEqual({ unlinked: 0 });
    expect((await call('DELETE', `/sessions/s/sources/${mine.thesisDocumentId}?userId=${mine.userId}`)).body).toEqual({ unlinked: 1 });
    expect((await call('DELETE', '/sessions/s/sources')).status).toBe(400);
    expect([await links(mine.userId), await links(other.userId)]).toEqual([0, 1]);
  });

  test('stay linked while an analysis of their session runs', async () => {
    const owner = await uploaded();
    const { body: { jobId } } = await call('POST', '/analysis-jobs', owner);
    for (const path of ['', `/${owner.thesisDocumentId}`]) expect((await call('DELETE', `/sessions/s/sources${path}?userId=${owner.userId}`)).body).toMatchObject({ status: 409, code: 'analysis_running', jobId });
    expect(await links(owner.userId)).toBe(1);
    expect((await call('DELETE', `/sessions/other/sources?userId=${owner.userId}`)).body).toEqual({ unlinked: 0 });
  });
});

describe('erasing a user', () => {
  test('is refused while work of theirs is open', async () => {
    const owner = await uploaded();
    await call('POST', '/analysis-jobs', owner);
    expect((await call('DELETE', `/users/${owner.userId}`)).body).toMatchObject({ status: 409, code: 'work_running' });
    const uploader = user();
    await insertParseItem(database.pool, { user_id: uploader });
    expect((await call('DELETE', `/users/${uploader}`)).body.code).toBe('work_running');
  });

  test('leaves no text, name or address of theirs anywhere, and everything of the others', async () => {
    const userId = `erased-${uuidv7()}`;
    const [owner, other] = [await uploaded(userId), await uploaded()];
    const item = await insertParseItem(database.pool, { user_id: userId, state: 'succeeded', filename: `${userId}.pdf` });
    await database.pool.query('update parse_jobs set user_id = $2, user_email = $3 where id = $1', [item.job_id, userId, `${userId}@example.org`]);
    const { body: { jobId } } = await call('POST', '/analysis-jobs', owner, { 'idempotency-key': uuidv7() });
    await insertRow(database.pool, 'job_citations', {
      id: uuidv7(), job_id: jobId, user_id: userId, session_id: 's', ordinal: 0, claim: `A claim of ${userId}.`, mark: '(A 2001)', page: 1, char_from: 0, char_to: 1, state: 'succeeded', verdict: 'source_missing', finished_at: sql('now()'),
    });
    await database.pool.query(`update analysis_jobs set state = 'succeeded', finished_at = now() where id = $1`, [jobId]);
    const counts = async () => (await database.pool.query('select count(*)::int as n from queue_events')).rows[0].n;
    const before = await counts();
    const { status, body } = await call('DELETE', `/users/${userId}`);
    expect([status, body]).toEqual([202, { erased: { documents: 1, chunks: 2, uploads: 1, files: 1, analyses: 1, citations: 1 } }]);
    expect(await tablesWith(userId)).toEqual([]);
    expect(await counts()).toBe(before);
    expect((await database.pool.query('select 1 from idempotency_keys where response::text like $1', [`%${jobId}%`])).rowCount).toBe(0);
    expect((await call('GET', `/analysis-jobs/${jobId}`)).status).toBe(404);
    expect(await links(other.userId)).toBe(1);
  });
});

/** Tables of the schema in which some row has the text anywhere. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  const found: string[] = [];
  for (const { name } of rows) if ((await database.pool.query(`select 1 from ${name} t where t::text like $1 limit 1`, [`%${text}%`])).rowCount) found.push(name);
  return found;
}
