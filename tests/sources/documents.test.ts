import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { findDocument, persistDocument, type NewDocument } from '../../server/sources/documents.js';
import { linkSource } from '../../server/sources/session-sources.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

function newDocument(values: Partial<NewDocument> = {}, chunks = 3): NewDocument {
  return {
    userId: 'user-1', contentSha256: createHash('sha256').update(randomUUID()).digest(), filename: 'paper.pdf', byteSize: 100,
    pageCount: 2, failedPages: [2], letters: 40, quality: 'partial',
    chunks: Array.from({ length: chunks }, (_, ordinal) => ({ ordinal, pageFrom: 1, pageTo: 1, charFrom: ordinal * 8, charTo: ordinal * 8 + 8, body: `chunk ${ordinal}` })),
    ...values,
  };
}

async function chunkCount(documentId: string): Promise<number> {
  const { rows } = await db.pool.query('select count(*)::int as n from document_chunks where document_id = $1', [documentId]);
  return rows[0].n;
}

test('a document and more chunks than one statement carries are stored and found again', async () => {
  const document = newDocument({}, 2_345);
  const stored = await inTransaction(db.pool, (tx) => persistDocument(tx, document));
  expect(stored).toMatchObject({ chunkCount: 2_345, pageCount: 2, failedPages: [2], quality: 'partial' });
  expect(await findDocument(db.pool, document)).toEqual(stored);
});

test('whoever stores the same content at the same time gets the same document, 100 of 100', async () => {
  const pool = db.createPool({ max: 4 });
  for (let round = 0; round < 100; round++) {
    const document = newDocument();
    const stored = await Promise.all([1, 2, 3, 4].map(() => inTransaction(pool, (tx) => persistDocument(tx, document))));
    expect(new Set(stored.map((one) => one.documentId)).size).toBe(1);
    expect(await chunkCount(stored[0]!.documentId)).toBe(3);
  }
});

test('when the first to store it rolls back, the second stores it', async () => {
  const document = newDocument();
  const first = inTransaction(db.pool, async (tx) => {
    await persistDocument(tx, document);
    await tx.query('select pg_sleep(0.1)');
    throw new Error('given up');
  });
  const second = inTransaction(db.pool, (tx) => persistDocument(tx, document));
  await expect(first).rejects.toThrow('given up');
  expect(await chunkCount((await second).documentId)).toBe(3);
});

test('a document that is kept cannot be erased before the transaction ends', async () => {
  const document = newDocument();
  const { documentId } = await inTransaction(db.pool, (tx) => persistDocument(tx, document));
  const erasure = await inTransaction(db.pool, async (tx) => {
    await findDocument(tx, document, { keep: true });
    const attempt = db.pool.query({ text: "set lock_timeout = '100ms'; delete from documents where filename = 'paper.pdf'" });
    return attempt.then(() => 'erased', (error: { code: string }) => error.code);
  });
  expect(erasure).toBe('55P03');
  expect(await findDocument(db.pool, document)).toMatchObject({ documentId });
});

test('linking twice keeps the first link, and links nothing that is not the user’s', async () => {
  const { documentId } = await inTransaction(db.pool, (tx) => persistDocument(tx, newDocument({ userId: 'owner' })));
  const link = { userId: 'owner', sessionId: 's', documentIds: [documentId, randomUUID()] };
  expect(await linkSource(db.pool, { ...link, linkedBy: 'upload' })).toBe(1);
  expect(await linkSource(db.pool, { ...link, linkedBy: 'parse_job' })).toBe(0);
  expect(await linkSource(db.pool, { ...link, userId: 'stranger', linkedBy: 'resolve' })).toBe(0);
  const { rows } = await db.pool.query("select user_id, linked_by from session_sources where session_id = 's'");
  expect(rows).toEqual([{ user_id: 'owner', linked_by: 'upload' }]);
});
