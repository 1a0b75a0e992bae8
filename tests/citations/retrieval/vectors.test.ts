import fs from 'node:fs';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exactScan } from '../../../server/citations/retrieval/exact-scan.js';
import { pgvectorSearch } from '../../../server/citations/retrieval/pgvector-search.js';
import { hasPgvector, type Db, type NearestQuestion, type VectorSearch } from '../../../server/citations/retrieval/vectors.js';
import { readSourceState } from '../../../server/sources/source-chunks.js';
import { Random } from '../../fixtures/theses/random.js';
import { testDatabase } from '../../support/database.js';
import { addSource, link } from './sources.js';

const migrations = path.resolve(import.meta.dirname, '../../../sql/migrations');
let pglite: PGlite;

/** pg's way of asking, answered by the embedded engine that carries pgvector. */
async function pgliteDb(): Promise<Db> {
  pglite = await PGlite.create({ extensions: { vector } });
  await pglite.exec('create extension vector');
  await pglite.exec(fs.readFileSync(path.join(migrations, '0001_leased_rows.sql'), 'utf8'));
  const query = (statement: string | { text: string; values: unknown[] }) => (typeof statement === 'string' ? pglite.query(statement) : pglite.query(statement.text, statement.values));
  return { query } as unknown as Db;
}

const kinds: [string, () => Promise<{ db: Db; search: VectorSearch; pgvector: boolean }>][] = [
  ['pgvector', async () => {
    const db = await pgliteDb();
    return { db, search: pgvectorSearch(db), pgvector: true };
  }],
  ['the exact scan', async () => {
    const { pool } = await testDatabase();
    return { db: pool, search: exactScan({ db: pool, ttlSeconds: 60 }), pgvector: false };
  }],
];

afterAll(async () => { await pglite?.close(); });

describe.each(kinds)('nearest neighbours by %s', (_, open) => {
  let db: Db;
  let search: VectorSearch;
  let pgvector: boolean;
  const anna = { userId: 'anna', sessionId: 's1' };

  beforeAll(async () => { ({ db, search, pgvector } = await open()); }, 180_000);

  async function nearest(question: Partial<NearestQuestion>) {
    const session = question.session ?? anna;
    return search.nearest({ session, state: await readSourceState(db, session), model: 'm', vector: [1, 0, 0], limit: 10, ...question });
  }

  test('the server says whether it has vectors', async () => {
    expect(await hasPgvector(db)).toBe(pgvector);
  });

  test('the nearest comes first, equals in the order of their keys, with the cosine distance', async () => {
    const id = await addSource(db, ['a', 'b', 'c', 'd', 'e'], { sessionId: 'order', vectors: [[0, 1, 0], [2, 0, 0], [1, 1, 0], [5, 0, 0], [-1, 0, 0]] });
    const found = await nearest({ session: { userId: 'anna', sessionId: 'order' } });
    expect(found).toEqual([
      { documentId: id, ordinal: 1, distance: 0 }, { documentId: id, ordinal: 3, distance: 0 },
      { documentId: id, ordinal: 2, distance: 0.292893 }, { documentId: id, ordinal: 0, distance: 1 }, { documentId: id, ordinal: 4, distance: 2 },
    ]);
  });

  test('vectors of other models, of other lengths, of zeros, and missing ones are passed over', async () => {
    const session = { userId: 'anna', sessionId: 'mixed' };
    await addSource(db, ['a'], { sessionId: 'mixed', vectors: [[1, 0, 0]], model: 'other' });
    const id = await addSource(db, ['a', 'b', 'c', 'd'], { sessionId: 'mixed', vectors: [[1, 0, 0, 0], [0, 0, 0], null, [0, 1, 0]] });
    expect(await nearest({ session })).toEqual([{ documentId: id, ordinal: 3, distance: 1 }]);
    expect(await nearest({ session, vector: [1, 0, 0, 0] })).toEqual([{ documentId: id, ordinal: 0, distance: 0 }]);
    expect(await nearest({ session, model: 'nobody' })).toEqual([]);
    expect(await nearest({ session, vector: [0, 0, 0] })).toEqual([]);
  });

  test('another user, another session, an unlinked document, and another user’s document under one’s own link never appear', async () => {
    const session = { userId: 'anna', sessionId: 'own' };
    const own = await addSource(db, ['a'], { sessionId: 'own', vectors: [[0, 1, 0]] });
    await addSource(db, ['b'], { userId: 'bert', sessionId: 'own', vectors: [[1, 0, 0]] });
    await addSource(db, ['c'], { sessionId: 'elsewhere', vectors: [[1, 0, 0]] });
    await addSource(db, ['d'], { sessionId: 'own', linked: false, vectors: [[1, 0, 0]] });
    await link(db, await addSource(db, ['e'], { userId: 'bert', linked: false, vectors: [[1, 0, 0]] }), 'anna', 'own');
    expect(await nearest({ session })).toEqual([{ documentId: own, ordinal: 0, distance: 1 }]);
  });

  test('one document can be asked for alone', async () => {
    const session = { userId: 'anna', sessionId: 'one' };
    await addSource(db, ['a'], { sessionId: 'one', vectors: [[1, 0, 0]] });
    const second = await addSource(db, ['b'], { sessionId: 'one', vectors: [[0, 1, 0]] });
    expect(await nearest({ session, documentId: second })).toEqual([{ documentId: second, ordinal: 0, distance: 1 }]);
  });

  test('many random vectors come in the order of a plain sum', async () => {
    const random = new Random(7);
    const some = () => Array.from({ length: 24 }, () => Math.fround(random.next() - 0.5));
    const vectors = Array.from({ length: 60 }, some);
    await addSource(db, vectors.map((_, i) => `chunk ${i}`), { sessionId: 'many', vectors });
    const question = some();
    const cosine = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0) / Math.hypot(...a) / Math.hypot(...b);
    const expected = vectors.map((vector, ordinal) => ({ ordinal, distance: 1 - cosine(vector, question) })).sort((a, b) => a.distance - b.distance).slice(0, 10);
    const found = await nearest({ session: { userId: 'anna', sessionId: 'many' }, vector: question });
    expect(found.map(({ ordinal }) => ordinal)).toEqual(expected.map(({ ordinal }) => ordinal));
    found.forEach(({ distance }, i) => expect(distance).toBeCloseTo(expected[i]!.distance, 5));
  });

  test('a vector that is stored later is found, whatever is in memory', async () => {
    const session = { userId: 'anna', sessionId: 'later' };
    const id = await addSource(db, ['a', 'b'], { sessionId: 'later', vectors: [[1, 0, 0], null] });
    expect(await nearest({ session })).toHaveLength(1);
    await db.query({ text: `update document_chunks set embedding = '{1,0,0}', embedding_model = 'm' where document_id = $1 and ordinal = 1`, values: [id] });
    expect(await nearest({ session })).toHaveLength(2);
    search.clear();
    expect(await nearest({ session })).toHaveLength(2);
  });
});
