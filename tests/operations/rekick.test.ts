// A re-kick through to its end: what failed or was cancelled is worked on again by the real handlers, and nothing else is.
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readReport, type Report } from '../../server/api/report.js';
import { analysisJobs, deployments, parseItems, parseJobs } from '../../server/lease/queues.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { settle } from '../../server/lease/settle.js';
import { createParseJobHandler } from '../../server/parse/parse-job.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { startChecker, stopCheckers, stubJudge } from '../citations/checking.js';
import { newAnalysis } from '../citations/rows.js';
import { storeDocument, storeThesis, type StoredThesis } from '../citations/stored-thesis.js';
import { accepted, deployment, deskOf, history, newApp, startStub, startWorker, stopAll } from '../deployments/world.js';
import { alice, invariantSettings } from '../lease/world.js';
import { runToEnd } from '../parse/held.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob, insertRow, sql } from '../support/factories.js';
import { knowing, modelStub, refuses, type ModelStub, type StubAnswer } from '../support/model-stub.js';
import { until } from '../support/until.js';
import { claim, openDesk, press, registerWorkers, type Desk } from './world.js';

let database: TestDatabase;
let pool: pg.Pool;
let desk: Desk;
let stub: ModelStub;
beforeAll(async () => {
  database = await testDatabase();
  pool = database.createPool({ max: 8 });
  desk = openDesk(database, pool);
  stub = await modelStub();
  await registerWorkers(pool);
});
afterEach(async () => {
  await stopCheckers();
  await stopAll();
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
});
afterAll(() => stub.close());

const knows = (thesis: StoredThesis) => knowing((said) => {
  const verdict = thesis.key.find(({ sentence }) => sentence === said)?.verdict;
  return verdict === 'source_missing' ? undefined : verdict;
});
/** The first sentences whose source is there. */
const checkable = (thesis: StoredThesis, count: number) => [...new Set(thesis.key.filter(({ work }) => !work.missing).map(({ sentence }) => sentence))].slice(0, count);
const refusing = (thesis: StoredThesis, claims: readonly string[]): StubAnswer => (asked, response) => (claims.includes(asked.claim) ? refuses(400) : knows(thesis))(asked, response);
const verdictsOf = (report: Report) => report.verdicts.map(({ claim: { text }, verdict }) => [text, verdict]).sort();
const expected = (thesis: StoredThesis, unchecked: readonly string[] = []) => thesis.key.map(({ sentence, verdict }) => [sentence, unchecked.includes(sentence) ? 'not_checked' : verdict]).sort();
const report = (id: string) => until(() => readReport(pool, id).catch(() => undefined), { timeoutMs: 60_000, what: 'the report' });

/** A report in which these sentences are not checked. */
async function reportWithout(count: number) {
  const thesis = await storeThesis(pool, { citations: 12 });
  const claims = checkable(thesis, count);
  stub.behave(refusing(thesis, claims));
  const id = await newAnalysis(pool, { userId: thesis.userId, sessionId: thesis.sessionId, thesis: thesis.thesisId });
  await startChecker(database, stubJudge(stub));
  const first = await report(id);
  expect(verdictsOf(first)).toEqual(expected(thesis, claims));
  return { thesis, claims, id, first };
}

describe('a finished analysis', { timeout: 120_000 }, () => {
  it('has its failed citations checked again into its report, which is not finished meanwhile and counts the redeploys of that time too', async () => {
    const { thesis, claims, id, first } = await reportWithout(2);
    let open = () => {};
    const gate = new Promise<void>((resolve) => { open = resolve; });
    const before = stub.asked.length;
    stub.behave(async (asked, response) => {
      await gate;
      await knows(thesis)(asked, response);
    });
    expect(await press(desk, 'rekick', { queue: 'analysis-jobs', id })).toMatchObject({ outcome: 'applied', text: `Reopened ${first.counts.not_checked} failed citations; the analysis awaits them again.` });
    await expect(readReport(pool, id)).rejects.toMatchObject({ status: 409, code: 'not_finished' });
    await insertRow(pool, 'redeploys', { id, role: 'worker', from_version: 'v1', to_version: 'v2', started_at: sql('now()'), ended_at: sql('clock_timestamp()') });
    open();
    const second = await report(id);
    expect(verdictsOf(second)).toEqual(expected(thesis));
    expect(second).toMatchObject({ state: 'succeeded', survivedRedeploys: first.survivedRedeploys + 1, counts: { not_checked: 0 }, claims: first.claims });
    expect(new Set(stub.asked.slice(before).map((asked) => asked.claim))).toEqual(new Set(claims));
    expect(second.verdicts.filter(({ claim: { text } }) => !claims.includes(text))).toEqual(first.verdicts.filter(({ claim: { text } }) => !claims.includes(text)));
    expect(await press(desk, 'rekick', { queue: 'analysis-jobs', id })).toMatchObject({ outcome: 'refused', code: 'finished' });
  });

  it('has one of them checked again, and the others stay as they are', async () => {
    const { thesis, claims, id } = await reportWithout(2);
    stub.behave(knows(thesis));
    const { rows } = await pool.query<{ id: string; claim: string }>(`select id, claim from job_citations where job_id = $1 and state = 'failed' order by ordinal limit 1`, [id]);
    expect(await press(desk, 'rekick', { queue: 'citations', id: rows[0]!.id })).toMatchObject({ outcome: 'applied' });
    const second = await report(id);
    const left = claims.filter((one) => one !== rows[0]!.claim);
    expect(second.verdicts.filter(({ verdict }) => verdict === 'not_checked').map(({ claim: { text } }) => text).filter((text) => !left.includes(text))).toEqual([]);
    expect(second.verdicts.find(({ citationId }) => citationId === rows[0]!.id)!.verdict).not.toBe('not_checked');
  });
});

describe('an analysis', { timeout: 120_000 }, () => {
  it('that was cancelled in mid-run goes on where it was, also with what was cancelled, and ends', async () => {
    const thesis = await storeThesis(pool, { citations: 12 });
    const [slow] = checkable(thesis, 1);
    stub.behave((asked, response) => (asked.claim === slow ? undefined : knows(thesis)(asked, response)));
    const id = await newAnalysis(pool, { userId: thesis.userId, sessionId: thesis.sessionId, thesis: thesis.thesisId });
    await startChecker(database, stubJudge(stub));
    await until(async () => (await pool.query(`select 1 from job_citations where job_id = $1 and judge is not null`, [id])).rowCount, { what: 'a verdict', timeoutMs: 60_000 });
    expect(await press(desk, 'cancel', { queue: 'analysis-jobs', id })).toMatchObject({ outcome: 'applied' });
    expect((await readReport(pool, id)).counts.not_checked).toBeGreaterThan(0);
    stub.behave(knows(thesis));
    expect(await press(desk, 'rekick', { queue: 'analysis-jobs', id })).toMatchObject({ outcome: 'applied' });
    const done = await report(id);
    expect(done.state).toBe('succeeded');
    expect(verdictsOf(done)).toEqual(expected(thesis));
  });

  it('that failed while its thesis was read is read again', async () => {
    const thesis = await storeThesis(pool, { citations: 12 });
    const id = await newAnalysis(pool, { userId: thesis.userId, sessionId: thesis.sessionId, thesis: thesis.thesisId });
    await claim(pool, analysisJobs, alice, id);
    await settle(pool, analysisJobs, alice, [{ id, token: '1', verb: 'fail', code: 'internal', message: 'A crash.' }]);
    expect(await press(desk, 'rekick', { queue: 'analysis-jobs', id })).toMatchObject({ outcome: 'applied', text: 'Queued it again with fresh counters (it was failed).' });
    expect((await pool.query('select attempt, lost_leases, error_code, lease_token::int as token from analysis_jobs where id = $1', [id])).rows).toEqual([{ attempt: 0, lost_leases: 0, error_code: null, token: 1 }]);
    stub.behave(knows(thesis));
    await startChecker(database, stubJudge(stub));
    expect(verdictsOf(await report(id))).toEqual(expected(thesis));
  });
});

describe('an upload', () => {
  const handler = createParseJobHandler({ embedder: offlineEmbedder() });
  /** One file was read, the other was not; the job itself then ended without success. */
  async function unsuccessful(state: 'failed' | 'cancelled', userId: string) {
    const document = await storeDocument(pool, { userId, sessionId: 'before' }, 'paper.pdf', ['A text of some length that can be cut.']);
    const job = await insertParseJob(pool, { state, user_id: userId, total_children: 2, succeeded_children: 1 });
    await insertParseItem(pool, { state: 'succeeded', job_id: job.id, user_id: userId, document_id: document });
    const unread = await insertParseItem(pool, { state: 'failed', job_id: job.id, user_id: userId });
    await pool.query('update document_chunks set embedding = null, embedding_model = null where document_id = $1', [document]);
    return { job, document, unread };
  }

  it.each(['failed', 'cancelled'] as const)('that was %s after a file was read is embedded and linked after all; the other file is asked for', async (state) => {
    const { job, document, unread } = await unsuccessful(state, `uploader-${state}`);
    expect(await press(desk, 'rekick', { queue: 'parse-jobs', id: job.id })).toMatchObject({ outcome: 'applied' });
    const lease = await claim(pool, parseJobs, alice, job.id);
    await runToEnd(handler, pool, lease);
    const { rows } = await pool.query(`select p.state, p.error_code, (select count(*)::int from document_chunks where document_id = $2 and embedding is null) as bare,
      (select count(*)::int from session_sources where document_id = $2 and session_id = 'session-1') as linked from parse_jobs p where id = $1`, [job.id, document]);
    expect(rows).toEqual([{ state: 'succeeded', error_code: null, bare: 0, linked: 1 }]);
    expect(await press(desk, 'rekick', { queue: 'parse-items', id: unread.id })).toMatchObject({ code: 'input_gone', text: expect.stringContaining('Ask the customer to upload the file again') });
  });

  it('whose file waits out its backoff is offered at once', async () => {
    const { id } = await insertParseItem(pool, { run_after: sql(`now() + interval '1 hour'`), attempt: 2 });
    expect(await press(desk, 'rekick', { queue: 'parse-items', id })).toMatchObject({ outcome: 'applied', text: 'Offered it to the workers again.' });
    expect((await claim(pool, parseItems, alice, id)).attempt).toBe(2);
    await settle(pool, parseItems, alice, [{ id, token: '1', verb: 'succeed' }]);
  });

  it('says that an offer waits while the queue is paused', async () => {
    const { id } = await insertParseItem(pool, { user_id: 'patient' });
    await press(desk, 'pause_queue', { queue: 'parse-items' });
    expect((await press(desk, 'rekick', { queue: 'parse-items', id })).text).toBe('Offered it to the workers again; its queue is paused, so it is taken once that is resumed.');
    await press(desk, 'resume_queue', { queue: 'parse-items' });
  });
});

it('a failed publish is published anew, under the next number, and goes live', async () => {
  const orchestrator = await startStub();
  const id = await accepted(deskOf(pool), newApp());
  await claim(pool, deployments, alice, id);
  await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'npm ci failed' }]);
  expect(await press(desk, 'rekick', { queue: 'deployments', id })).toMatchObject({ outcome: 'applied', text: 'Started publish 2 of the app.' });
  await startWorker(database, orchestrator);
  await until(async () => (await deployment(pool, id)).build_id, { what: 'a build', timeoutMs: 20_000 });
  orchestrator.builds.finish(orchestrator.builds.state.builds.at(-1)!.buildId);
  await until(async () => (await deployment(pool, id)).state === 'live', { what: 'a live app', timeoutMs: 20_000 });
  expect(await history(pool, id)).toEqual(['1 failed build_failed', '2 live']);
  expect(await press(desk, 'rekick', { queue: 'deployments', id })).toMatchObject({ outcome: 'refused', code: 'finished' });
}, 60_000);
