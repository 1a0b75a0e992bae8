import type pg from 'pg';
import { advertised } from '../lease/processes.js';
import { Problem } from './problem.js';

/** A worker that is being restarted is back by then (seconds). */
const RETRY_AFTER_SECONDS = 15;

/**
 * Accepts work only where someone can do it: a live worker that advertises parsing, or a web process inline (`takesInline`: this one could).
 * Part of the admission, before anything is inserted. @throws Problem 503 no_worker.
 */
export async function requireParser(tx: pg.PoolClient, takesInline: boolean): Promise<void> {
  if (takesInline || (await advertised(tx, ['worker', 'inline'])).has('parse')) return;
  throw new Problem(503, 'no_worker', 'No live worker can parse files, and this server is set up not to parse them itself. Nothing was stored; send the upload again once a worker runs.', { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}
