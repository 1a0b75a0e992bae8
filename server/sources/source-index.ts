import type pg from 'pg';
import { buildLexicalIndex, type LexicalIndex } from './lexical-index.js';
import { RebuildableCache } from './rebuildable-cache.js';
import { readChunksAfter, type SessionKey, type SourceState } from './source-chunks.js';
import { createStems } from './terms.js';

type Db = Pick<pg.Pool, 'query'>;

/**
 * The in-memory index of each session's sources: an L1 cache over persisted chunks, keyed by user and session, rebuilt when it is missing,
 * too old, or the session's documents are others than it was built from. `clear` may be called at any moment.
 */
export interface SourceIndexes {
  /** `state` is what the session has just now; the answer never lacks any of it. */
  of(key: SessionKey, state: SourceState): Promise<LexicalIndex>;
  /** Sessions kept or being indexed. */
  readonly size: number;
  clear(): void;
}

export interface SourceIndexOptions {
  db: Db;
  /** SOURCE_CACHE_TTL_SECONDS */
  ttlSeconds: number;
  /** Characters of text behind all kept indexes; an index takes about four bytes for each. */
  maxChars?: number;
}

/** Rows of one read: about 1 MB. */
const READ_ROWS = 1000;

export function createSourceIndexes({ db, ttlSeconds, maxChars = 50_000_000 }: SourceIndexOptions): SourceIndexes {
  const stems = createStems();
  const cache = new RebuildableCache<LexicalIndex>({ ttlSeconds, maxWeight: maxChars, weigh: (index) => index.chars });
  return {
    of: (key, state) => cache.of(cacheKey(key), textVersion(state), () => buildLexicalIndex(chunkBatches(db, key), stems)),
    get size() { return cache.size; },
    clear: () => cache.clear(),
  };
}

/** Two users never meet in one entry, whatever their ids look like. */
export function cacheKey({ userId, sessionId }: SessionKey): string {
  return JSON.stringify([userId, sessionId]);
}

function textVersion(state: SourceState): string {
  return state.documents.map(({ documentId, chunks }) => `${documentId}:${chunks}`).join();
}

async function* chunkBatches(db: Db, key: SessionKey) {
  let after: { documentId: string; ordinal: number } | undefined;
  for (;;) {
    const batch = await readChunksAfter(db, key, after, READ_ROWS);
    if (batch.length === 0) return;
    yield batch;
    after = batch.at(-1);
  }
}
