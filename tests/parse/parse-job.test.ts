import { beforeAll, expect, test } from 'vitest';
import { LeaseLostError, OutsideError } from '../../server/lease/errors.js';
import { createParseJobHandler } from '../../server/parse/parse-job.js';
import type { Embedder } from '../../server/sources/embedder.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertRow } from '../support/factories.js';
import { heldJob, rowOf, runToEnd, workOn } from './held.js';

let db: TestDatabase;
const offline = offlineEmbedder();
const handler = createParseJobHandler({ embedder: offline });

beforeAll(async () => {
  db = await testDatabase();
});

async function documentOf(chunks: number, user_id = 'user-1'): Promise<string> {
  const { id } = await insertDocument(db.pool, { user_id });
  for (let ordinal = 2; ordinal < chunks; ordinal++) {
    await insertRow(db.pool, 'document_chunks', { document_id: id, ordinal, page_from: 1, page_to: 1, char_from: ordinal * 10, char_to: ordinal * 10 + 10, body: `text no ${ordinal}` });
  }
  return id;
}

async function embedded(documentId: string): Promise<number> {
  const { rows } = await db.pool.query('select count(*)::int as n from document_chunks where document_id = $1 and cardinality(embedding) = 384 and embedding_model = $2', [documentId, offline.model]);
  return rows[0].n;
}

/** The offline embedder with something happening before each batch. */
function interrupted(before: (batch: number) => Promise<void> | void): Embedder {
  let batch = 0;
  return { ...offline, batchSize: 10, async embed(texts, signal) {
    await before(batch++);
    return offline.embed(texts, signal);
  } };
}

test('every chunk of the job gets its embedding, with progress, and the documents are linked', async () => {
  const user_id = 'embeds';
  const documents = [await documentOf(300, user_id), await documentOf(2, user_id)];
  const lease = await heldJob(db.pool, documents, { user_id });
  const work = workOn(db.pool);
  await runToEnd(handler, db.pool, lease, work);

  expect(await embedded(documents[0]!)).toBe(300);
  expect(await embedded(documents[1]!)).toBe(2);
  expect(work.seen.at(-1)).toEqual([302, 302]);
  expect(work.seen.length).toBeGreaterThan(2);
  expect(await rowOf(db.pool, lease)).toMatchObject({ state: 'succeeded' });
  const { rows } = await db.pool.query('select document_id, linked_by from session_sources where user_id = $1', [user_id]);
  expect(rows).toHaveLength(2);
  expect(rows.every((row) => row.linked_by === 'parse_job')).toBe(true);
});

test('a next holder goes on behind the batches that were stored', async () => {
  const document = await documentOf(35);
  const lease = await heldJob(db.pool, [document]);
  const failing = createParseJobHandler({ embedder: interrupted((batch) => {
    if (batch === 2) throw new OutsideError('embeddings_unavailable', 'away');
  }) });
  await expect(failing(lease, workOn(db.pool))).rejects.toBeInstanceOf(OutsideError);
  expect(await embedded(document)).toBe(20);

  const asked: number[] = [];
  const counting = interrupted((batch) => { asked.push(batch); });
  await runToEnd(createParseJobHandler({ embedder: counting }), db.pool, lease);
  expect(asked).toEqual([0, 1]);
  expect(await embedded(document)).toBe(35);
});

test('a superseded token stores no further vector', async () => {
  const document = await documentOf(25);
  const lease = await heldJob(db.pool, [document]);
  const taken = createParseJobHandler({ embedder: interrupted(async (batch) => {
    if (batch === 1) await db.pool.query('update parse_jobs set lease_token = 2 where id = $1', [lease.id]);
  }) });
  await expect(taken(lease, workOn(db.pool))).rejects.toBeInstanceOf(LeaseLostError);
  expect(await embedded(document)).toBe(10);
});

test('no transaction and no connection is held while the service is asked', async () => {
  const lease = await heldJob(db.pool, [await documentOf(25)]);
  const pool = db.createPool({ max: 1 });
  const idle: number[] = [];
  const looking = createParseJobHandler({ embedder: interrupted(() => { idle.push(pool.totalCount - pool.idleCount); }) });
  await runToEnd(looking, pool, lease);
  expect(idle).toEqual([0, 0, 0]);
});

test('jobs that share a document embed it side by side without a deadlock', async () => {
  const document = await documentOf(200);
  const pool = db.createPool({ max: 8 });
  const leases = await Promise.all([1, 2, 3, 4].map(() => heldJob(pool, [document])));
  const small = createParseJobHandler({ embedder: { ...offline, batchSize: 7 } });
  await Promise.all(leases.map((lease) => runToEnd(small, pool, lease)));
  expect(await embedded(document)).toBe(200);
});

test('a document that was erased in between is passed over', async () => {
  const [kept, erased] = [await documentOf(5), await documentOf(25)];
  const lease = await heldJob(db.pool, [kept, erased]);
  const erasing = createParseJobHandler({ embedder: interrupted(async (batch) => {
    if (batch === 0) await db.pool.query('delete from documents where id = $1', [erased]);
  }) });
  await runToEnd(erasing, db.pool, lease);
  expect(await embedded(kept)).toBe(5);
  expect(await rowOf(db.pool, lease)).toMatchObject({ state: 'succeeded' });
});

test('a job whose files all failed has nothing to embed and ends', async () => {
  const lease = await heldJob(db.pool, []);
  await runToEnd(handler, db.pool, lease);
  expect(await rowOf(db.pool, lease)).toMatchObject({ state: 'succeeded' });
});
