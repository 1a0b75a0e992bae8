import { Readable } from 'node:stream';
import { beforeAll, expect, test } from 'vitest';
import { cacheWords, lostOf } from '~/format/session-words';
import { readSession } from '../../server/console/session.js';
import { tryRebuild } from '../../server/console/session-rebuild.js';
import { parseSessionFilters, readSessions, SESSIONS_PER_PAGE } from '../../server/console/sessions.js';
import { exportSessions } from '../../server/console/sessions-export.js';
import { createKysely } from '../../server/db/kysely.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertParseJob, insertRow, insertWorker, sql } from '../support/factories.js';
import { insertAnalysis, insertCitation } from './report-rows.js';
import { idFrom } from './rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

const list = (query: string) => readSessions(kysely, parseSessionFilters(new URLSearchParams(query)));
const read = (sessionId: string, userId: string | null) => readSession(kysely, sessionId, userId, 3_600);
const link = (user_id: string, session_id: string, document_id: string, linked_by = 'parse_item') => insertRow(database.pool, 'session_sources', { user_id, session_id, document_id, linked_by });

test('a session shows its documents, what is persisted of each, its uploads and analyses', async () => {
  const at = { user_id: 'u-1', session_id: 's-1' };
  const document = await insertDocument(database.pool, { user_id: 'u-1', filename: 'bates.pdf', page_count: 48, failed_pages: [7] });
  await database.pool.query(`update document_chunks set embedding = '{1}', embedding_model = 'offline' where document_id = $1 and ordinal = 0`, [document.id]);
  const job = await insertParseJob(database.pool, { ...at, state: 'succeeded' });
  await insertParseItem(database.pool, { ...at, job_id: job.id, state: 'succeeded', document_id: document.id, chunk_count: 2 });
  await insertParseItem(database.pool, { ...at, state: 'queued' });
  await link('u-1', 's-1', document.id);
  const analysis = await insertAnalysis(database.pool, at);
  const { users, page } = await read('s-1', null);
  expect(users).toEqual(['u-1']);
  expect(page!.sources).toEqual([expect.objectContaining({ id: document.id, filename: 'bates.pdf', pages: 48, failedPages: [7], linkedBy: 'parse_item', chunks: 2, made: 2, chars: 20, embedded: 1, models: ['offline'] })]);
  expect(page!.staged).toEqual({ open: 1, unlinked: 0 });
  expect([page!.uploads.rows.map((row) => row.id), page!.analyses.rows.map((row) => row.id)]).toEqual([[job.id], [analysis.id]]);
  expect(lostOf(page!.sources)).toEqual([]);
  expect(JSON.stringify(page)).not.toContain('ten letter');
});

test('a document whose chunks are gone is what would be lost; one that the user unlinked is not', async () => {
  const at = { user_id: 'u-2', session_id: 's-2', state: 'succeeded' as const };
  const bare = await insertDocument(database.pool, { user_id: 'u-2' });
  const unlinked = await insertDocument(database.pool, { user_id: 'u-2' });
  await insertParseItem(database.pool, { ...at, document_id: bare.id, chunk_count: 2 });
  await insertParseItem(database.pool, { ...at, document_id: unlinked.id, chunk_count: 2 });
  await link('u-2', 's-2', bare.id);
  await database.pool.query('delete from document_chunks where document_id = $1 and ordinal = 1', [bare.id]);
  const page = (await read('s-2', 'u-2')).page!;
  expect(lostOf(page.sources).map((source) => source.id)).toEqual([bare.id]);
  expect(page.staged).toEqual({ open: 0, unlinked: 1 });
});

test('an id that two users share is nobody\'s until the address says whose', async () => {
  for (const user of ['u-3', 'u-4']) await insertParseJob(database.pool, { user_id: user, session_id: 'shared' });
  expect(await read('shared', null)).toEqual({ users: ['u-3', 'u-4'], page: null });
  expect((await read('shared', 'u-4')).page?.userId).toBe('u-4');
  expect(await read('shared', 'u-5')).toEqual({ users: [], page: null });
});

test('sessions come newest first, each once, in pages without a gap or a double', async () => {
  const made: string[] = [];
  for (let n = 0; n < SESSIONS_PER_PAGE + 5; n += 1) {
    made.push(`walk-${n}`);
    await insertParseJob(database.pool, { id: idFrom(9_000 - n * 2), user_id: 'walker', session_id: `walk-${n}` });
    await insertParseJob(database.pool, { id: idFrom(20_000 - n), user_id: 'walker', session_id: `walk-${n}` });
  }
  await insertAnalysis(database.pool, { id: idFrom(1), user_id: 'walker', session_id: 'walk-0' });
  const first = await list('q=walker');
  const second = await list(`q=walker&before=${first.next}`);
  const found = [...first.sessions, ...second.sessions].map((session) => session.sessionId);
  expect(found).toEqual(['walk-0', ...made.slice(1).reverse()]);
  expect(second.next).toBeNull();
  const file = async (query: string, cap?: number) => (await Readable.from(exportSessions(kysely, parseSessionFilters(new URLSearchParams(query)), 'csv', cap)).toArray()).join('').split('\r\n');
  const lines = await file('q=walker');
  expect(lines.map((line) => line.split(',')[0])).toEqual(['session', ...found, '']);
  expect(lines[1]).toMatch(/^walk-0,walker,[0-9a-f-]{36},\d{4}-\d\d-\d\dT[\d:.]+Z,0,2,1,1$/);
  expect(await file('q=walker', 7)).toEqual([...lines.slice(0, 8), 'Stopped after 7 sessions: more match. Narrow the filter to export the rest.', '']);
  expect(await file(`q=walker&before=${first.next}`)).toEqual(lines);   // always the whole list
  expect(first.sessions[0]).toMatchObject({ userId: 'walker', documents: 0, openUploads: 2, analyses: 1, openAnalyses: 1 });
});

test('sessions that only have linked documents are found by their user, and where they are too many it is said, in the list and in an export', async () => {
  const document = await insertDocument(database.pool, { user_id: 'linker' });
  for (let n = 0; n < 51; n += 1) await link('linker', `linked-${n}`, document.id);
  const file = async () => JSON.parse((await Readable.from(exportSessions(kysely, parseSessionFilters(new URLSearchParams('q=linker')), 'json')).toArray()).join('')) as { sessions: unknown[]; count: number; complete: boolean };
  expect(await list('q=linker')).toMatchObject({ next: null, cut: true, sessions: { length: 50 } });
  expect(await file()).toMatchObject({ count: 50, complete: false });
  await database.pool.query(`delete from session_sources where session_id = 'linked-50'`);
  expect(await list('q=linker')).toMatchObject({ next: null, cut: false, sessions: { length: 50 } });
  expect(await file()).toMatchObject({ count: 50, complete: true });
});

test('a session with hundreds of jobs hides none of those that were quiet since, on whatever page it comes', async () => {
  for (let n = 0; n < 60; n += 1) await insertParseJob(database.pool, { id: idFrom(60_000 + n), user_id: 'quiet', session_id: `quiet-${n}` });
  await database.pool.query(`
    insert into parse_jobs (id, user_id, session_id, open_children, total_children, state, finished_at)
    select (substr($1, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'quiet', 'loud', 0, 1, 'succeeded', now() from generate_series(1, 900) n`, [idFrom(50_000)]);
  await insertParseJob(database.pool, { id: idFrom(70_000), user_id: 'quiet', session_id: 'loud' });   // older than all: not a second time
  const first = await list('q=quiet');
  const second = await list(`q=quiet&before=${first.next}`);
  expect([...first.sessions, ...second.sessions].map((session) => session.sessionId)).toEqual(['loud', ...Array.from({ length: 60 }, (_, n) => `quiet-${n}`)]);
  expect(second.next).toBeNull();
});

test('a search finds a session that only has linked documents, by its own id and by its user\'s', async () => {
  const document = await insertDocument(database.pool, { user_id: 'u-6' });
  await link('u-6', 'linked-only', document.id, 'resolve');
  for (const q of ['linked-only', 'u-6']) {
    expect((await list(`q=${q}`)).sessions).toEqual([expect.objectContaining({ userId: 'u-6', sessionId: 'linked-only', newest: null, newestAt: null, documents: 1 })]);
  }
  expect((await list('q=linked')).sessions).toEqual([]);
});

test('the index of a session is really built from what is persisted, counted, asked, and thrown away', async () => {
  const key = { userId: 'u-7', sessionId: 's-7' };
  expect(await tryRebuild(database.pool, key)).toEqual({ outcome: 'nothing_linked' });
  for (let n = 0; n < 3; n += 1) await link('u-7', 's-7', (await insertDocument(database.pool, { user_id: 'u-7' })).id);
  await link('u-7', 'another session', (await insertDocument(database.pool, { user_id: 'u-7' })).id);
  await link('u-8', 's-7', (await insertDocument(database.pool, { user_id: 'u-8' })).id);
  expect(await tryRebuild(database.pool, key)).toEqual({ outcome: 'built', documents: 3, chunks: 6, chars: 60, tookMs: expect.any(Number) });
});

test('a trial has limits in memory and time, and there is one at a time', async () => {
  const key = { userId: 'u-9', sessionId: 's-9' };
  const document = await insertDocument(database.pool, { user_id: 'u-9' });
  await database.pool.query(`insert into document_chunks (document_id, ordinal, page_from, page_to, char_from, char_to, body)
    select $1, n, 1, 1, n * 10, n * 10 + 10, 'word' || n from generate_series(2, 900) n`, [document.id]);
  await link('u-9', 's-9', document.id);
  expect(await tryRebuild(database.pool, key, { limits: { chars: 100 } })).toEqual({ outcome: 'too_large', limitChars: 100 });
  expect(await tryRebuild(database.pool, key, { limits: { ms: 0 } })).toMatchObject({ outcome: 'too_slow' });
  const [first, second] = await Promise.all([tryRebuild(database.pool, key), tryRebuild(database.pool, key)]);
  expect([first.outcome, second.outcome]).toEqual(['built', 'busy']);
  const gone = new AbortController();
  gone.abort(new Error('they left'));
  await expect(tryRebuild(database.pool, key, { signal: gone.signal })).rejects.toThrow('they left');
  expect((await tryRebuild(database.pool, key)).outcome).toBe('built');   // a trial that ended badly blocks none
});

test('who may keep the index in memory is told from who checked its citations lately, and is still alive', async () => {
  const at = { user_id: 'u-10', session_id: 's-10' };
  const analysis = await insertAnalysis(database.pool, at);
  const citation = await insertCitation(database.pool, analysis.id, 0, { ...at, state: 'succeeded' });
  const alive = await insertWorker(database.pool, { label: 'keeper', version: 'v3' });
  const ended = await insertWorker(database.pool, { label: 'ended', stopped_at: sql('now()') });
  const earlier = await insertWorker(database.pool, { label: 'earlier' });
  for (const [worker, ago] of [[alive, '1 minute'], [ended, '1 minute'], [earlier, '2 hours']] as const) {
    await insertRow(database.pool, 'queue_events', { queue: 'job_citations', row_id: citation.id, cause: 'acquire', worker_id: worker.id, at: sql(`now() - interval '${ago}'`) });
  }
  const page = (await read('s-10', 'u-10')).page!;
  expect(page.keepers).toEqual([{ id: alive.id, label: 'keeper', version: 'v3', at: expect.any(Number) }]);
  expect(cacheWords(page).text).toBe('Perhaps by 1 process');
});
