/** For a server without pgvector: a session's vectors are read once, kept as floats beside each other, and scanned. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareKeys } from '../../sources/lexical-index.js';
import type { ChunkKey } from '../../sources/embeddings.js';
import { RebuildableCache } from '../../sources/rebuildable-cache.js';
import { cacheKey } from '../../sources/source-index.js';
import type { SessionKey, SourceState } from '../../sources/source-chunks.js';
import type { Db, Neighbour, NearestQuestion, VectorSearch } from './vectors.js';

/** Vectors of one model and length, of length one each. */
interface VectorTable {
  keys: ChunkKey[];
  rows: Float32Array[];
}

export interface ExactScanOptions {
  db: Db;
  ttlSeconds: number;
  /** Numbers kept in all; four bytes each. */
  maxNumbers?: number;
}

const READ_ROWS = 500;

export function exactScan({ db, ttlSeconds, maxNumbers = 32_000_000 }: ExactScanOptions): VectorSearch {
  const cache = new RebuildableCache<VectorTable>({ ttlSeconds, maxWeight: maxNumbers, weigh: ({ rows }) => rows.reduce((sum, row) => sum + row.length, 0) });
  return {
    async nearest(question) {
      const { session, state, model } = question;
      const table = await cache.of(`${cacheKey(session)} ${model}`, vectorVersion(state, model), () => readVectors(db, session, model));
      return scan(table, question);
    },
    clear: () => cache.clear(),
  };
}

/** Grows while a job embeds; a vector, once stored for a model, stays as it is. */
function vectorVersion(state: SourceState, model: string): string {
  return state.documents.map(({ documentId, embedded }) => `${documentId}:${embedded[model] ?? 0}`).join();
}

function scan({ keys, rows }: VectorTable, { vector, documentId, limit }: NearestQuestion): Neighbour[] {
  const question = unit(Float32Array.from(vector));
  if (!question) return [];
  const found: Neighbour[] = [];
  rows.forEach((row, at) => {
    if (row.length !== question.length || (documentId !== undefined && keys[at]!.documentId !== documentId)) return;
    found.push({ ...keys[at]!, distance: Math.round((1 - dot(row, question)) * 1e6) / 1e6 });
  });
  return found.sort((a, b) => a.distance - b.distance || compareKeys(a, b)).slice(0, limit);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Undefined for a vector of zeros: it has no direction. */
function unit(vector: Float32Array): Float32Array | undefined {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : undefined;
}

async function readVectors(db: Db, { userId, sessionId }: SessionKey, model: string): Promise<VectorTable> {
  const table: VectorTable = { keys: [], rows: [] };
  let after: ChunkKey | undefined;
  for (;;) {
    // The wire form of the array: parsing its text form would hold the thread for a second.
    const { rows } = await db.query<ChunkKey & { wire: Buffer }>({
      text: `select c.document_id as "documentId", c.ordinal, array_send(c.embedding) as wire
             from session_sources s join documents d on d.id = s.document_id and d.user_id = s.user_id join document_chunks c on c.document_id = d.id
             where s.user_id = $1 and s.session_id = $2 and d.user_id = $1 and c.embedding_model = $3
               and ($4::uuid is null or (c.document_id, c.ordinal) > ($4::uuid, $5::int))
             order by c.document_id, c.ordinal limit $6`,
      values: [userId, sessionId, model, after?.documentId, after?.ordinal, READ_ROWS],
    });
    for (const { documentId, ordinal, wire } of rows) add(table, { documentId, ordinal }, wire);
    after = rows.at(-1);
    if (!after) return table;
    await nextTurn();
  }
}

function add(table: VectorTable, key: ChunkKey, wire: Uint8Array): void {
  const row = unit(fromWire(wire));
  if (!row) return;
  table.keys.push(key);
  table.rows.push(row);
}

/** A one-dimensional real[] as Postgres sends it: 20 bytes of head (bytes 12 to 15: the count), then for each number its size (4) and value. */
function fromWire(wire: Uint8Array): Float32Array {
  const view = new DataView(wire.buffer, wire.byteOffset, wire.byteLength);
  const count = wire.byteLength < 20 ? 0 : view.getInt32(12);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(24 + 8 * i));
}
