import type pg from 'pg';
import type { Config } from '../../config.js';
import { inTransaction } from '../../db/connection.js';
import type { Embedder } from '../../sources/embedder.js';
import { readChunks, readSourceState, type SessionKey, type SourceChunk, type SourceState } from '../../sources/source-chunks.js';
import { createSourceIndexes, type SourceIndexes } from '../../sources/source-index.js';
import { withoutMarks, type Claim } from '../claim-text.js';
import { exactScan } from './exact-scan.js';
import { fuse, type Fused, type Scores } from './fuse.js';
import { pgvectorSearch } from './pgvector-search.js';
import { hasPgvector, type Db, type VectorSearch } from './vectors.js';

/** A chunk of a source that may speak to a claim. Offsets are UTF-16 code units in the document's text, `charTo` exclusive; pages 1-based. */
export interface Passage extends SourceChunk {
  scores: Scores;
}

export interface Question extends SessionKey {
  claim: Claim;
  /** Look into this source alone. */
  documentId?: string;
  limit?: number;
}

export interface Retrieval {
  /**
   * The passages that speak to the claim, best first; none when the session has no sources. The text is read from the database at the end,
   * through the link and the user: an index that is out of date can lose a passage, never show one.
   * @throws what the embedder throws, and the signal's reason as soon as it fires.
   */
  passagesFor(question: Question, signal: AbortSignal): Promise<Passage[]>;
  /** Drops every index and vector from memory. Safe at any moment; whoever is in the middle of a question gets its answer. */
  clear(): void;
  /** Sessions whose index is in memory. */
  readonly cached: number;
}

export interface RetrievalOptions {
  pool: pg.Pool;
  embedder: Embedder;
  config: Pick<Config, 'sourceCacheTtlSeconds'>;
}

const PASSAGES = 6;
/** Of each list, before they are fused. */
const DEPTH = 50;
/** One read may take this long (ms). */
const READ_TIMEOUT_MS = 15_000;

export function createRetrieval({ pool, embedder, config }: RetrievalOptions): Retrieval {
  const db = timedReads(pool);
  const indexes = createSourceIndexes({ db, ttlSeconds: config.sourceCacheTtlSeconds });
  const vectors = chosenAtFirstUse(db, config.sourceCacheTtlSeconds);
  return {
    passagesFor: (question, signal) => heeding(signal, answer({ db, indexes, vectors, embedder }, question, signal)),
    clear() {
      indexes.clear();
      vectors.clear();
    },
    get cached() { return indexes.size; },
  };
}

interface Parts {
  db: Db;
  indexes: SourceIndexes;
  vectors: VectorSearch;
  embedder: Embedder;
}

async function answer(parts: Parts, question: Question, signal: AbortSignal): Promise<Passage[]> {
  signal.throwIfAborted();
  const state = await readSourceState(parts.db, question);
  const wanted = state.documents.filter(({ documentId }) => question.documentId === undefined || documentId === question.documentId);
  if (wanted.length === 0) return [];
  const text = withoutMarks(question.claim);
  const [index, nearest] = await Promise.all([
    parts.indexes.of(question, state),
    nearestTo(parts, text, question, { documents: wanted }, state, signal),
  ]);
  signal.throwIfAborted();
  const lexical = index.search(text, { documentId: question.documentId, limit: DEPTH });
  return readPassages(parts.db, question, fuse(lexical, nearest).slice(0, question.limit ?? PASSAGES));
}

/** No vector is asked for where none of this model could be compared: those chunks are found by their words alone. */
async function nearestTo({ vectors, embedder }: Parts, text: string, question: Question, wanted: SourceState, state: SourceState, signal: AbortSignal) {
  if (!wanted.documents.some(({ embedded }) => embedded[embedder.model])) return [];
  const [vector] = await embedder.embed([text], signal);
  if (!vector) return [];
  return vectors.nearest({ session: question, state, model: embedder.model, vector, documentId: question.documentId, limit: DEPTH });
}

async function readPassages(db: Db, session: SessionKey, fused: readonly Fused[]): Promise<Passage[]> {
  const chunks = await readChunks(db, session, fused);
  return fused.flatMap(({ documentId, ordinal, scores }) => {
    const chunk = chunks.find((other) => other.documentId === documentId && other.ordinal === ordinal);
    return chunk ? [{ ...chunk, scores }] : [];
  });
}

/** pgvector where the server has it, the scan otherwise. Asked once; again if that failed. */
function chosenAtFirstUse(db: Db, ttlSeconds: number): VectorSearch {
  const pgvector = pgvectorSearch(db);
  const scan = exactScan({ db, ttlSeconds });
  let has: boolean | undefined;
  return {
    async nearest(question) {
      has ??= await hasPgvector(db);
      return (has ? pgvector : scan).nearest(question);
    },
    clear: () => scan.clear(),
  };
}

/** Each statement in a short transaction of its own, with a time limit. */
function timedReads(pool: pg.Pool): Db {
  const query = (statement: pg.QueryConfig) => inTransaction(pool, (tx) => tx.query(statement), { timeoutMs: READ_TIMEOUT_MS });
  return { query: query as Db['query'] };
}

/** Settles with `work`, or at once with the signal's reason; what others wait for too goes on. */
async function heeding<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
