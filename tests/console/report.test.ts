import type { AppLoadContext } from '@remix-run/node';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { citationQuery } from '~/format/report-words';
import { loader } from '~/routes/_console.reports.$id';
import { CITATIONS_PER_PAGE } from '../../server/console/report-citations.js';
import { parseCitationFilters, SHOWN_VERDICTS } from '../../server/console/report-filters.js';
import { readReport } from '../../server/console/report.js';
import { actionByName } from '../../server/operations/actions.js';
import { operate } from '../../server/operations/operate.js';
import { createLogger } from '../../server/log.js';
import { parseReportFilters, readReports } from '../../server/console/reports.js';
import { createKysely } from '../../server/db/kysely.js';
import type { Operator } from '../../server/http/load-context.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertRow, insertWorker, sql } from '../support/factories.js';
import { idFrom } from './rows.js';
import { insertAnalysis, insertCitation } from './report-rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

/** What the page's own loader sends to a browser that is signed in with this role. */
function pageLoader(role: Operator['role'], id: string) {
  const context = { world: { kysely, config: database.config() }, operator: { ...ada, role, sessionId: 's' }, nonce: '', closed: new AbortController().signal } as unknown as AppLoadContext;
  return loader({ context, params: { id }, request: new Request(`http://console.test/reports/${id}`) });
}

const everything = { verdict: null, after: null, before: null };
const ada = { id: idFrom(700), name: 'Ada', role: 'operator' as Operator['role'] };
const read = (id: string, filters = {}, person = ada) => readReport(kysely, id, { ...everything, ...filters }, person);

/** As the button on the page does it. */
function reveal(report: string, actor = ada) {
  const world = { pool: database.pool, config: database.config(), hints: { changed: () => {} }, log: createLogger({ level: 'silent', name: 'test' }) };
  return operate(world, actionByName('reveal')!, { actor: { kind: 'operator', ...actor }, via: 'page', fields: { report }, reason: 'the customer disputes a verdict' });
}

test('a report that does not exist is nobody\'s page', async () => {
  expect(await read(idFrom(1))).toBeNull();
});

test('filters of a report live in the URL and come back from it', () => {
  const filters = fc.record({ verdict: fc.constantFrom(null, ...SHOWN_VERDICTS), after: fc.option(fc.nat(999_999)), before: fc.constant(null) });
  fc.assert(fc.property(filters, (made) => {
    expect(parseCitationFilters(new URLSearchParams(citationQuery(made)))).toEqual(made);
  }));
  expect(parseCitationFilters(new URLSearchParams(citationQuery({ ...everything, before: 7 })))).toEqual({ ...everything, before: 7 });
  expect(parseCitationFilters(new URLSearchParams('verdict=nonsense&after=-1&before=1e9'))).toEqual(everything);
});

describe('the journey', () => {
  test('counts the files that were there when the claims were read, the checks, their holders and the redeploys', async () => {
    const { pool } = database;
    const at = { user_id: 'u-j', session_id: 's-j' };
    const thesis = await insertDocument(pool, { user_id: 'u-j', filename: 'thesis.pdf', page_count: 90 });
    for (const state of ['succeeded', 'succeeded', 'failed'] as const) await insertParseItem(pool, { ...at, state, created_at: sql("now() - interval '50 minutes'"), finished_at: sql("now() - interval '45 minutes'") });
    await insertParseItem(pool, { ...at, state: 'queued' });   // uploaded after the claims were read: no part of this
    const job = await insertAnalysis(pool, {
      ...at, thesis_document_id: thesis.id, created_at: sql("now() - interval '40 minutes'"), open_children: 2, total_children: 6, succeeded_children: 3,
      claims_total: 6, marks_seen: 9, marks_resolved: 7, reading: JSON.stringify({ marks: { reasons: { ambiguous: 2 } } }),
    });
    const worker = await insertWorker(pool, { label: 'worker-a', version: 'v43' });
    const read_at = { ...at, created_at: sql("now() - interval '38 minutes'") };
    await insertCitation(pool, job.id, 0, { ...read_at, state: 'succeeded' });
    await insertCitation(pool, job.id, 1, { ...read_at, state: 'succeeded', verdict: 'not_supported' });
    await insertCitation(pool, job.id, 2, { ...read_at, state: 'succeeded', verdict: 'source_missing' });
    await insertCitation(pool, job.id, 3, { ...read_at, state: 'failed' });
    await insertCitation(pool, job.id, 4, { ...read_at, state: 'running', worker_id: worker.id });
    await insertCitation(pool, job.id, 5, read_at);
    const redeploy = (from: string, started: string, ended: string | null) => insertRow(pool, 'redeploys', {
      id: idFrom(0), role: 'worker', from_version: from, to_version: `${from}+1`, started_at: sql(started), ended_at: ended === null ? null : sql(ended) });
    await redeploy('long-before', "now() - interval '3 hours'", "now() - interval '2 hours'");
    await redeploy('into-it', "now() - interval '41 minutes'", "now() - interval '39 minutes'");
    await redeploy('during', "now() - interval '2 minutes'", null);

    const page = (await read(job.id))!;
    expect(page).toMatchObject({
      userId: 'u-j', sessionId: 's-j', judge: 'offline-lexical', thesis: { filename: 'thesis.pdf', pages: 90 },
      reading: { claimsTotal: 6, marksSeen: 9, marksResolved: 7, unresolved: { ambiguous: 2 } },
      verdicts: { supported: 1, partly_supported: 0, not_supported: 1, source_missing: 1, not_checked: 1, open: 2 },
      journey: { holders: [{ stage: 'checked', id: worker.id, label: 'worker-a', version: 'v43', n: 1 }], others: { analyses: 0, laterFiles: 1 } },
    });
    expect(page.journey.stages.map(({ state, total, done, unsuccessful }) => [state, total, done, unsuccessful])).toEqual([
      ['done', 3, 3, 0], ['partly', 3, 2, 1], ['done', 6, 6, 0], ['running', 6, 3, 1], ['ahead', null, null, 0]]);
    expect(page.journey.redeploys.map((each) => each.fromVersion)).toEqual(['into-it', 'during']);
    expect(Math.round((page.asOf - page.journey.analysis!.readAt!) / 60_000)).toBe(38);
    expect(Math.round((page.asOf - page.journey.stages[1]!.finishedAt!) / 60_000)).toBe(45);
  });

  test('of an analysis that waits for uploads shows them unparsed and no claims', async () => {
    const at = { user_id: 'u-w', session_id: 's-w' };
    await insertParseItem(database.pool, { ...at, state: 'running' });
    const job = await insertAnalysis(database.pool, { ...at, state: 'queued', total_children: 0 });
    expect(await read(job.id)).toMatchObject({ reading: null, thesis: null, citations: { rows: [] },
      journey: { step: 'files', stages: [{}, { state: 'running', total: 1, done: 0, finishedAt: null }, { state: 'ahead' }, { state: 'ahead' }, { state: 'ahead' }], redeploys: [{ fromVersion: 'during' }] } });
  });

  test('of a thesis without a citation ends with the reading', async () => {
    const job = await insertAnalysis(database.pool, { user_id: 'u-0', state: 'succeeded', total_children: 0, claims_total: 0, marks_seen: 0, marks_resolved: 0 });
    const page = (await read(job.id))!;
    expect([page.reading?.claimsTotal, page.journey.analysis!.readAt, page.journey.stages[3]!.state]).toEqual([0, page.row.finishedAt, 'done']);
  });
});

describe('text', () => {
  async function checked(): Promise<{ id: string; source: string }> {
    const source = await insertDocument(database.pool, { filename: 'zeileis.pdf' });
    const job = await insertAnalysis(database.pool, { state: 'succeeded' });
    const evidence = JSON.stringify([{ documentId: source.id, page: 4, charFrom: 120, charTo: 160, quote: 'the secret passage' }]);
    await insertCitation(database.pool, job.id, 0, { state: 'succeeded', document_id: source.id, confidence: 0.75, evidence, judge: 'offline-lexical' });
    await insertCitation(database.pool, job.id, 1, { state: 'failed', error_message: 'the model answered "secret"' });
    return { id: job.id, source: source.id };
  }

  test('can be revealed by operators and admins, and by nobody else', async () => {
    const { id } = await checked();
    const answers = [];
    for (const role of ['viewer', 'operator', 'admin'] as const) answers.push((await reveal(id, { ...ada, role })).code);
    expect(answers).toEqual(['not_allowed', null, null]);
    expect((await database.pool.query('select outcome, reason from operator_actions where row_id = $1 order by id', [id])).rows.map((row) => row.outcome)).toEqual(['refused', 'applied', 'applied']);
  });

  test('is masked again when the time is over, for anyone else, and for someone whose role was taken away', async () => {
    const { id } = await checked();
    await reveal(id);
    const seenBy = async (person = ada) => (await read(id, {}, person))!.revealedUntil !== null;
    expect([await seenBy(), await seenBy({ ...ada, id: idFrom(701) }), await seenBy({ ...ada, role: 'viewer' })]).toEqual([true, false, false]);
    await database.pool.query(`update operator_actions set at = at - interval '16 minutes' where row_id = $1`, [id]);
    expect(await seenBy()).toBe(false);
  });

  test('comes with its place and its document for whoever revealed it', async () => {
    const { id, source } = await checked();
    await reveal(id);
    expect((await read(id))!.citations.rows[0]).toMatchObject({
      claim: 'a secret claim', mark: '(Secret, 2004)', entry: 'Secret (2004). A secret title.', rationale: 'since secret', confidence: 0.75, document: { id: source, filename: 'zeileis.pdf' },
      evidence: [{ documentId: source, document: 'zeileis.pdf', page: 4, charFrom: 120, charTo: 160, quote: 'the secret passage' }],
    });
  });

  test('never leaves the database for others: verdicts, places and file names do', async () => {
    const { id, source } = await checked();
    const page = (await read(id))!;
    expect(JSON.stringify(page).toLowerCase()).not.toContain('secret');
    expect(page.citations.rows[0]).toMatchObject({
      verdict: 'supported', page: 3, charFrom: 10, charTo: 24, claim: null, mark: null, entry: null,
      evidence: [{ documentId: source, document: 'zeileis.pdf', page: 4, charFrom: 120, charTo: 160, quote: null }],
    });
  });

  test.each(['viewer', 'operator', 'admin'] as const)('is sent by the page to a %s only after a reveal that the role allows', async (role) => {
    const { id } = await checked();
    expect(JSON.stringify(await pageLoader(role, id))).not.toMatch(/secret/i);
    await reveal(id, { ...ada, role });
    const answer = await pageLoader(role, id);
    expect(answer.page!.citations.rows[0]!.claim).toBe(role === 'viewer' ? null : 'a secret claim');
    expect(/secret/i.test(JSON.stringify(answer))).toBe(role !== 'viewer');
  });

  test('of an erased source leaves the place it had, and a foreign document is not named', async () => {
    const foreign = await insertDocument(database.pool, { user_id: 'someone-else', filename: 'foreign.pdf' });
    const job = await insertAnalysis(database.pool, { state: 'succeeded', thesis_document_id: foreign.id });
    const place = (documentId: string) => ({ documentId, page: 1, charFrom: 0, charTo: 5, quote: 'x' });
    await insertCitation(database.pool, job.id, 0, { state: 'succeeded', document_id: foreign.id, evidence: JSON.stringify([place(idFrom(9)), place(foreign.id)]) });
    const page = (await read(job.id))!;
    expect(page.citations.rows[0]!.evidence.map((each) => each.document)).toEqual([null, null]);
    expect([page.thesis, page.citations.rows[0]!.document]).toEqual([null, null]);
  });
});

test('citations page in the order of the thesis, forward and back, and by verdict', async () => {
  const job = await insertAnalysis(database.pool, { state: 'succeeded' });
  const total = CITATIONS_PER_PAGE * 2 + 5;
  for (let n = 0; n < total; n += 1) await insertCitation(database.pool, job.id, n, { state: 'succeeded', verdict: n % 2 === 0 ? 'supported' : 'partly_supported' });
  const list = async (filters: object) => (await read(job.id, filters))!.citations;
  const first = await list({});
  const second = await list({ after: first.next });
  const third = await list({ after: second.next });
  expect([...first.rows, ...second.rows, ...third.rows].map((row) => row.ordinal)).toEqual(Array.from({ length: total }, (_, n) => n));
  expect([first.previous, third.next]).toEqual([null, null]);
  const back = await list({ before: third.previous });
  expect(back).toEqual(second);
  const front = await list({ before: back.previous });
  expect([front.rows.map((row) => row.ordinal), front.previous]).toEqual([first.rows.map((row) => row.ordinal), null]);
  const odd = await list({ verdict: 'partly_supported', after: 50 });
  expect(odd.rows.map((row) => row.ordinal)).toEqual(Array.from({ length: 27 }, (_, n) => 51 + n * 2));
});

test('the list of reports is narrowed by state, user and session, and says what each is about', async () => {
  const thesis = await insertDocument(database.pool, { user_id: 'lister', filename: 'list-me.pdf' });
  const job = await insertAnalysis(database.pool, { user_id: 'lister', session_id: 's-l', state: 'succeeded', thesis_document_id: thesis.id, claims_total: 2 });
  await insertCitation(database.pool, job.id, 0, { state: 'succeeded' });
  await insertCitation(database.pool, job.id, 1, { state: 'failed' });
  const page = await readReports(kysely, parseReportFilters(new URLSearchParams('user=lister&session=s-l&state=succeeded,live&worker=x&older=5m')));
  expect(page.rows.map((row) => row.id)).toEqual([job.id]);
  expect(page.about[job.id]).toMatchObject({ thesis: 'list-me.pdf', claimsTotal: 2, verdicts: { supported: 1, not_checked: 1, open: 0 } });
  expect((await readReports(kysely, parseReportFilters(new URLSearchParams('user=lister&state=queued')))).rows).toEqual([]);
});
