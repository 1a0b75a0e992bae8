import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { LeaseLostError, PermanentError, TransientError } from '../../server/lease/errors.js';
import { createParseItemHandler } from '../../server/parse/parse-item.js';
import { readStagedBytes } from '../../server/parse/staged-bytes.js';
import type { Done } from '../../server/lease/handler.js';
import { endlessPdf, englishText, germanText, partlyBrokenPdf, scannedPdf, textPdf } from '../fixtures/pdfs.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { heldItem, limits, rowOf, runToEnd, settleWith, workOn } from './held.js';
import { parsersOf, settledParser } from './parsers.js';

let db: TestDatabase;
const handler = createParseItemHandler({ limits });

beforeAll(async () => {
  db = await testDatabase();
});

async function chunksOf(documentId: unknown) {
  const { rows } = await db.pool.query('select * from document_chunks where document_id = $1 order by ordinal', [documentId]);
  return rows;
}

test('an upload becomes a document with chunks, linked to its session, and its bytes are gone', async () => {
  const user_id = 'umlaut';
  const lease = await heldItem(db.pool, { user_id, file_bytes: await textPdf(germanText) });
  const work = workOn(db.pool);
  await runToEnd(handler, db.pool, lease, work);

  const row = await rowOf(db.pool, lease);
  expect(row).toMatchObject({ state: 'succeeded', file_bytes: null, page_count: 2, chunk_count: 1, failed_pages: [], quality: 'good' });
  expect(work.seen).toEqual([[1, 2], [2, 2]]);
  const [chunk] = await chunksOf(row.document_id);
  expect(chunk).toMatchObject({ page_from: 1, page_to: 2, char_from: 0 });
  expect(chunk.body.replace(/\s+/g, ' ')).toContain('Über größere Änderungen der Schätzgüte');
  expect(chunk.body).toHaveLength(chunk.char_to - chunk.char_from);
  const { rows: links } = await db.pool.query('select * from session_sources where user_id = $1', [user_id]);
  expect(links).toMatchObject([{ document_id: row.document_id, session_id: 'session-1', linked_by: 'parse_item' }]);
});

test('the same content is stored once a user, without reading it again', async () => {
  const file_bytes = await textPdf([englishText]);
  const first = await heldItem(db.pool, { user_id: 'twice', session_id: 'one', file_bytes });
  await runToEnd(handler, db.pool, first);
  const second = await heldItem(db.pool, { user_id: 'twice', session_id: 'two', file_bytes });
  const work = workOn(db.pool);
  await runToEnd(handler, db.pool, second, work);

  expect(work.seen).toEqual([]);
  const [one, two] = [await rowOf(db.pool, first), await rowOf(db.pool, second)];
  expect(two).toMatchObject({ state: 'succeeded', document_id: one.document_id, chunk_count: 1, quality: 'good', page_count: 1 });
  const { rows } = await db.pool.query("select session_id from session_sources where user_id = 'twice' order by 1");
  expect(rows.map((row) => row.session_id)).toEqual(['one', 'two']);
});

test('items with the same content that settle at once all succeed with one document', async () => {
  const file_bytes = await textPdf([englishText, germanText[0]!]);
  const pool = db.createPool({ max: 10 });
  const leases = await Promise.all([1, 2, 3].map(() => heldItem(pool, { user_id: 'at-once', file_bytes })));
  const outcomes = await Promise.all(leases.map((lease) => handler(lease, workOn(pool))));
  await Promise.all(leases.map((lease, i) => settleWith(pool, lease, outcomes[i]!)));

  const rows = await Promise.all(leases.map((lease) => rowOf(pool, lease)));
  expect(rows.map((row) => row.state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(new Set(rows.map((row) => row.document_id)).size).toBe(1);
  expect(await chunksOf(rows[0]!.document_id)).toHaveLength(rows[0]!.chunk_count as number);
});

test('another user with the same file gets a document of their own', async () => {
  const file_bytes = await textPdf([englishText]);
  const leases = [await heldItem(db.pool, { user_id: 'mine', file_bytes }), await heldItem(db.pool, { user_id: 'yours', file_bytes })];
  for (const lease of leases) await runToEnd(handler, db.pool, lease);
  const [mine, yours] = [await rowOf(db.pool, leases[0]!), await rowOf(db.pool, leases[1]!)];
  expect(mine.document_id).not.toBe(yours.document_id);
});

test('a partly broken file succeeds and says that it is partial', async () => {
  const lease = await heldItem(db.pool, { user_id: 'partial', file_bytes: partlyBrokenPdf() });
  await runToEnd(handler, db.pool, lease);
  expect(await rowOf(db.pool, lease)).toMatchObject({ state: 'succeeded', quality: 'partial', page_count: 3, failed_pages: [2] });
});

test('a scan is refused for good, with a sentence that says what to do', async () => {
  const lease = await heldItem(db.pool, { file_bytes: await scannedPdf() });
  const failure = await handler(lease, workOn(db.pool)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PermanentError);
  expect(failure).toMatchObject({ code: 'no_text', message: expect.stringContaining('text recognition') });
});

test('a file larger than one read arrives whole', async () => {
  const padded = Buffer.concat([await textPdf([englishText]), Buffer.alloc(9 * 1024 * 1024, '\n% padding')]);
  const lease = await heldItem(db.pool, { user_id: 'large', file_bytes: padded });
  await runToEnd(handler, db.pool, lease);
  expect(await rowOf(db.pool, lease)).toMatchObject({ state: 'succeeded', quality: 'good' });
});

test('a superseded token reads nothing and writes nothing', async () => {
  const lease = await heldItem(db.pool, { user_id: 'fenced', file_bytes: await textPdf([englishText]) });
  const outcome = await handler(lease, workOn(db.pool)) as Done;
  await db.pool.query('update parse_items set lease_token = 2 where id = $1', [lease.id]);

  await expect(settleWith(db.pool, lease, outcome)).rejects.toBeInstanceOf(LeaseLostError);
  await expect(handler(lease, workOn(db.pool))).rejects.toBeInstanceOf(LeaseLostError);
  const { rows } = await db.pool.query("select 1 from documents where user_id = 'fenced'");
  expect(rows).toEqual([]);
});

test('each statement repeats the token by itself', async () => {
  const file_bytes = await textPdf([englishText]);
  const first = await heldItem(db.pool, { user_id: 'guards', file_bytes });
  await runToEnd(handler, db.pool, first);
  // Known content: no bytes are read, so the first look at the row alone must notice.
  const lease = await heldItem(db.pool, { user_id: 'guards', file_bytes });
  const outcome = await handler(lease, workOn(db.pool)) as Done;
  await db.pool.query('update parse_items set lease_token = 2 where id = $1', [lease.id]);
  await expect(handler(lease, workOn(db.pool))).rejects.toBeInstanceOf(LeaseLostError);
  await expect(readStagedBytes(db.pool, lease).next()).rejects.toBeInstanceOf(LeaseLostError);
  await inTransaction(db.pool, (tx) => outcome.apply!(tx));
  expect(await rowOf(db.pool, lease)).toMatchObject({ document_id: null, quality: null });
});

test('an abort ends the parser and throws its reason', async () => {
  const lease = await heldItem(db.pool, { user_id: 'aborted', file_bytes: endlessPdf() });
  const work = workOn(db.pool);
  const outcome = handler(lease, work).catch((error: unknown) => error);
  await settledParser();
  const reason = new Error('drained');
  work.controller.abort(reason);
  expect(await outcome).toBe(reason);
  expect(parsersOf()).toEqual([]);
});

test('a parser that dies by itself is an error worth another try', async () => {
  const lease = await heldItem(db.pool, { user_id: 'crashed', file_bytes: endlessPdf() });
  const outcome = handler(lease, workOn(db.pool)).catch((error: unknown) => error);
  process.kill(await settledParser(), 'SIGABRT');
  const failure = await outcome;
  expect(failure).toBeInstanceOf(TransientError);
  expect(failure).toMatchObject({ code: 'parser_crashed' });
});
