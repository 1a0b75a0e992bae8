import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { buildLexicalIndex } from '../sources/lexical-index.js';
import type { SessionKey } from '../sources/source-chunks.js';
import { readChunksAfter, readSourceState } from '../sources/source-chunks.js';
import { createStems, wordsOf } from '../sources/terms.js';

type Db = Pick<pg.Pool, 'query'>;

/** What came of trying. Durations in milliseconds. */
export type RebuildAnswer =
  /** Every persisted chunk was indexed, and the index answers; it is thrown away again. */
  | { outcome: 'built'; documents: number; chunks: number; chars: number; tookMs: number }
  | { outcome: 'nothing_linked' }
  /** The documents changed while it was made, or its index does not answer: what a worker would build is not known. */
  | { outcome: 'differs'; expected: number; chunks: number; tookMs: number }
  /** Not tried to the end: a worker would build it, this process will not. */
  | { outcome: 'too_large'; limitChars: number }
  | { outcome: 'too_slow'; chunks: number; tookMs: number }
  /** Somebody tries one just now: one at a time in this process. */
  | { outcome: 'busy' };

/** An index takes about four bytes for each character of text: 40 MB at most in the web process. */
export const MOST_CHARS = 10_000_000;
/** Whoever pressed the button waits (ms). A worker has as long as its lease. */
export const LONGEST_MS = 15_000;
/** Rows of one read: what is between two looks at the clock. */
const READ_ROWS = 200;
/** A read by key that takes this long (ms) waits for a sick server. */
const READ_TIMEOUT_MS = 5_000;

let trying = false;

class Stopped extends Error {
  constructor(readonly why: 'too_large' | 'too_slow') {
    super(why);
  }
}

/**
 * Builds the session's index from what is persisted, in this process, as a worker would after losing its own, and throws it away. Reads only;
 * one at a time a process; bounded in time and memory. Indexing yields to other requests every few milliseconds. `signal`: whoever asked has
 * gone. @throws what pg throws, and the signal's reason
 */
export async function tryRebuild(pool: pg.Pool, key: SessionKey, options: { signal?: AbortSignal; limits?: { chars?: number; ms?: number } } = {}): Promise<RebuildAnswer> {
  if (trying) return { outcome: 'busy' };
  trying = true;
  try {
    return await rebuild(timed(pool), key, options.signal, { chars: MOST_CHARS, ms: LONGEST_MS, ...options.limits });
  } finally {
    trying = false;
  }
}

async function rebuild(db: Db, key: SessionKey, signal: AbortSignal | undefined, limits: { chars: number; ms: number }): Promise<RebuildAnswer> {
  const started = performance.now();
  const took = () => performance.now() - started;
  const state = await readSourceState(db, key);
  if (state.documents.length === 0) return { outcome: 'nothing_linked' };
  const expected = state.documents.reduce((sum, { chunks }) => sum + chunks, 0);
  const seen = { chunks: 0, chars: 0, probe: '' };
  const stems = createStems();
  try {
    const index = await buildLexicalIndex(batches(db, key, seen, () => {
      signal?.throwIfAborted();
      if (seen.chars > limits.chars) throw new Stopped('too_large');
      if (took() > limits.ms) throw new Stopped('too_slow');
    }), stems);
    const askable = wordsOf(seen.probe).some((word) => stems.of(word.text).length > 0);
    const whole = seen.chunks === expected && (!askable || index.search(seen.probe, { limit: 1 }).length > 0);
    if (!whole) return { outcome: 'differs', expected, chunks: seen.chunks, tookMs: took() };
    return { outcome: 'built', documents: state.documents.length, chunks: seen.chunks, chars: index.chars, tookMs: took() };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return error.why === 'too_large' ? { outcome: 'too_large', limitChars: limits.chars } : { outcome: 'too_slow', chunks: seen.chunks, tookMs: took() };
  }
}

/** Counts as it goes, and keeps the beginning of the longest chunk to ask the index for. Text stays in here. */
async function* batches(db: Db, key: SessionKey, seen: { chunks: number; chars: number; probe: string }, check: () => void) {
  let after: { documentId: string; ordinal: number } | undefined;
  for (;;) {
    check();
    const batch = await readChunksAfter(db, key, after, READ_ROWS);
    if (batch.length === 0) return;
    for (const { body } of batch) {
      seen.chunks += 1;
      seen.chars += body.length;
      if (body.length > seen.probe.length) seen.probe = body.slice(0, 400);
    }
    check();
    yield batch;
    after = batch.at(-1);
    await pause(0);
  }
}

function timed(pool: pg.Pool): Db {
  return { query: (config: pg.QueryConfig) => pool.query({ ...config, query_timeout: READ_TIMEOUT_MS } as pg.QueryConfig) } as unknown as Db;
}
