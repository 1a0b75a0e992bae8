import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { kick } from '../../server/bus/kick.js';
import { inTransaction } from '../../server/db/connection.js';
import { cancel } from '../../server/lease/cancel.js';
import { analysisJobs } from '../../server/lease/queues.js';
import { wakeAnalyses } from '../../server/sources/waiting-analyses.js';
import { causes, expectSound } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob } from '../support/factories.js';
import { knowing, modelStub, refuses, type ModelStub } from '../support/model-stub.js';
import { until } from '../support/until.js';
import { startChecker, stopCheckers, stubJudge } from './checking.js';
import { analysis, citationStates, newAnalysis } from './rows.js';
import { storeDocument, storeThesis, type StoredThesis } from './stored-thesis.js';

let database: TestDatabase;
let pool: pg.Pool;
let stub: ModelStub;
beforeAll(async () => {
  database = await testDatabase();
  pool = database.pool;
  stub = await modelStub();
});
afterEach(stopCheckers);
afterAll(() => stub.close());

const CHANNELS = { kickChannel: 'leaseboard_kick' };
const start = ({ userId, sessionId, thesisId }: StoredThesis) => newAnalysis(pool, { userId, sessionId, thesis: thesisId });
const supports = (thesis: StoredThesis) => knowing((claim) => {
  const verdict = thesis.key.find(({ sentence }) => sentence === claim)?.verdict;
  return verdict === 'source_missing' ? undefined : verdict;
});

async function ended(id: string, timeoutMs = 60_000) {
  return until(async () => {
    const row = await analysis(pool, id);
    return ['succeeded', 'failed', 'cancelled'].includes(row.state) && row;
  }, { timeoutMs, what: 'the end of the analysis' });
}

interface Checked { claim: string; entry: string | null; document_id: string | null; verdict: string; judge: string | null; reason: string | null; page: number; evidence: { documentId: string; page: number; charFrom: number; charTo: number; quote: string }[] }

async function verdicts(id: string): Promise<Checked[]> {
  const { rows } = await pool.query<Checked>('select * from job_citations where job_id = $1 order by ordinal', [id]);
  return rows;
}

/** No citation was ended twice, and none has been left. */
async function expectOneVerdictEach(id: string, count: number): Promise<void> {
  const { rows } = await pool.query<{ verdict: string | null; ends: number }>(
    `select c.verdict, (select count(*)::int from queue_events e where e.row_id = c.id and e.to_state in ('succeeded', 'failed', 'cancelled')) as ends from job_citations c where job_id = $1`, [id]);
  expect(rows).toHaveLength(count);
  expect(rows.filter(({ verdict, ends }) => verdict === null || ends !== 1)).toEqual([]);
}

describe('an analysis', { timeout: 90_000 }, () => {
  it('gives each planted citation one verdict, from the source it cites, with evidence where it says', async () => {
    const thesis = await storeThesis(pool);
    const id = await start(thesis);
    stub.behave(supports(thesis));
    await startChecker(database, stubJudge(stub));
    expect(await ended(id)).toMatchObject({ state: 'succeeded', error_code: null, claims_total: thesis.key.length, marks_seen: thesis.key.length, marks_resolved: thesis.key.length, judge: 'model:stub' });
    const found = await verdicts(id);
    const key = thesis.key.map(({ sentence, work, verdict }) => [sentence, thesis.sources.get(work.title) ?? null, verdict]);
    expect(found.map((one) => [one.claim, one.document_id, one.verdict]).sort()).toEqual(key.sort());
    for (const { verdict, judge, evidence, document_id, reason } of found) {
      expect([judge, reason]).toEqual(verdict === 'source_missing' ? [null, 'no_match'] : ['model:stub', null]);
      if (verdict === 'supported') expect(evidence.length).toBeGreaterThan(0);
      for (const { documentId, page, charFrom, charTo, quote } of evidence) {
        expect(documentId).toBe(document_id);
        expect(thesis.pages.get(documentId)![page - 1]).toContain(quote);
        expect(thesis.pages.get(documentId)!.join('\n\n').slice(charFrom, charTo)).toBe(quote);
      }
    }
    await expectOneVerdictEach(id, thesis.key.length);
    await expectSound(pool);
  });

  it('pins the documents it found, and none of them is another user\'s with the very same files', async () => {
    const [mine, other] = [await storeThesis(pool, { withSources: false }), await storeThesis(pool)];
    const [id, otherId] = [await start(mine), await start(other)];
    await startChecker(database);
    await Promise.all([ended(id), ended(otherId)]);
    expect(new Set((await verdicts(id)).map(({ verdict }) => verdict))).toEqual(new Set(['source_missing']));
    const { rows } = await pool.query('select id, pinned_documents from analysis_jobs where id = any ($1)', [[id, otherId]]);
    expect(rows.find((row) => row.id === id).pinned_documents).toEqual([]);
    expect([...rows.find((row) => row.id === otherId).pinned_documents].sort()).toEqual([...other.sources.values()].sort());
    for (const { evidence, document_id } of await verdicts(otherId)) for (const place of evidence) expect(place.documentId).toBe(document_id);
  });

  it('waits for uploads of its session that are still being parsed, and calls none of them missing', async () => {
    const thesis = await storeThesis(pool, { withSources: false });
    const item = await insertParseItem(pool, { user_id: thesis.userId, session_id: thesis.sessionId, job_id: (await insertParseJob(pool, { user_id: thesis.userId, session_id: thesis.sessionId })).id });
    const id = await start(thesis);
    await startChecker(database);
    await until(async () => (await causes(pool, id)).includes('wait'), { what: 'a wait' });
    expect(await analysis(pool, id)).toMatchObject({ state: 'queued', attempt: 0, error_code: null });
    const complete = await storeThesis(pool, thesis); // the sources of the same thesis, now parsed
    await inTransaction(pool, async (tx) => {
      await tx.query(`delete from parse_items where id = $1`, [item.id]);
      await tx.query(`update parse_jobs set state = 'succeeded', open_children = 0, finished_at = now() where id = $1`, [item.job_id]);
      await wakeAnalyses(tx, thesis, CHANNELS.kickChannel);
    });
    await ended(id);
    expect(new Set((await verdicts(id)).filter((one) => one.verdict !== 'source_missing').map((one) => one.document_id)).size).toBe(complete.sources.size);
  });

  it('of a text without citations succeeds at once and says so', async () => {
    const owner = { userId: 'quiet', sessionId: 's' };
    const thesisId = await storeDocument(pool, owner, 'essay.pdf', ['An essay that cites nobody at all.']);
    const id = await newAnalysis(pool, { ...owner, thesis: thesisId });
    await startChecker(database);
    expect(await ended(id)).toMatchObject({ state: 'succeeded', claims_total: 0, marks_seen: 0, total_children: 0 });
  });

  it('of a thesis that is not the user\'s fails and reads nothing', async () => {
    const other = await storeThesis(pool, { withSources: false });
    const id = await newAnalysis(pool, { userId: 'thief', sessionId: other.sessionId, thesis: other.thesisId });
    await startChecker(database);
    expect(await ended(id)).toMatchObject({ state: 'failed', error_code: 'thesis_erased' });
    expect(await verdicts(id)).toEqual([]);
  });
});

describe('the model', { timeout: 90_000 }, () => {
  it('is away: the queue rests, nothing is charged, and the run ends when it is back', async () => {
    const thesis = await storeThesis(pool, { citations: 12 });
    const id = await start(thesis);
    stub.behave(refuses(503));
    await startChecker(database, stubJudge(stub));
    await until(async () => (await pool.query(`select 1 from breakers where queue = 'job_citations'`)).rowCount, { what: 'an open breaker' });
    stub.behave(supports(thesis));
    await pool.query(`update breakers set retry_at = now(); update job_citations set run_after = now() where state = 'queued'`); // the hour passes
    expect(await ended(id)).toMatchObject({ state: 'succeeded' });
    const { rows } = await pool.query('select max(attempt)::int as attempt, max(lost_leases)::int as lost from job_citations where job_id = $1', [id]);
    expect(rows).toEqual([{ attempt: 0, lost: 0 }]);
    await expectOneVerdictEach(id, thesis.key.length);
    expect((await pool.query(`select 1 from breakers`)).rowCount).toBe(0);
  });

  it('refuses some for good: they fail, the others have their verdicts, and the analysis closes', async () => {
    const thesis = await storeThesis(pool, { citations: 12 });
    const id = await start(thesis);
    const knows = supports(thesis);
    const refused = thesis.key.find(({ work }) => !work.missing)!.sentence;
    stub.behave((asked, response) => (asked.claim === refused ? refuses(400) : knows)(asked, response));
    await startChecker(database, stubJudge(stub));
    expect(await ended(id)).toMatchObject({ state: 'succeeded' });
    const { rows } = await pool.query('select claim, state, error_code, verdict from job_citations where job_id = $1 and verdict is null', [id]);
    expect(rows).toEqual([{ claim: refused, state: 'failed', error_code: 'model_refused', verdict: null }]);
  });

  it('is no longer asked within a second of the cancel of its analysis', async () => {
    const thesis = await storeThesis(pool, { citations: 12 });
    const id = await start(thesis);
    let given = 0;
    stub.behave((_, response) => void response.on('close', () => { given += 1; })); // never answers, and counts who has given up
    const asked = stub.asked.length;
    await startChecker(database, stubJudge(stub));
    await until(() => stub.asked.length - asked >= 4, { what: 'four questions', timeoutMs: 30_000 });
    const cancelled = await inTransaction(pool, async (tx) => {
      const answer = await cancel(tx, analysisJobs, [id], 'Cancelled in a test.');
      await kick(tx, CHANNELS, { lost: answer.lost });
      return answer;
    });
    expect(cancelled.lost.length).toBeGreaterThan(0);
    await until(() => given === 4, { what: 'silence', timeoutMs: 1_000 });
    expect(stub.asked.length - asked).toBe(4);
    expect(await citationStates(pool, id)).toMatchObject({ cancelled: expect.any(Number) });
    await expectSound(pool);
  });
});
