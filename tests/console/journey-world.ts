/** Sessions in any situation, built from rows as the engine leaves them. One user and one session at a time; `clear` makes room for the next. */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { BUCKET_BOUNDS_MS } from '../../server/lease/samples.js';
import type { RowState } from '../support/factories.js';
import { insertDocument, insertParseItem, insertParseJob, insertRow, insertWorker, sql } from '../support/factories.js';
import { insertAnalysis, insertCitation } from './report-rows.js';

type Values = Record<string, unknown>;
type Rows = Values & { state?: RowState };

export const USER = 'customer-1';
export const SESSION = 'session-of-customer-1';
const OWN = { user_id: USER, session_id: SESSION };

export const ago = (time: string) => sql(`now() - interval '${time}'`);
export const ahead = (time: string) => sql(`now() + interval '${time}'`);

/** Held, its lease run out a while ago. */
export const stale = { state: 'running' as const, heartbeat_at: ago('3 minutes'), lease_expires_at: ago('1 minute') };
/** Ended by its own failure, as a permanent error leaves it. */
export const failed = (code: string) => ({ state: 'failed' as const, attempt: 1, error_code: code });

export interface JourneyWorld {
  clear(): Promise<void>;
  /** The session's upload with these files; its state follows from theirs unless it is said. */
  upload(files: readonly Rows[], job?: Rows): Promise<{ id: string }>;
  /** Its documents are linked, as parsed files leave them. */
  link(n?: number): Promise<void>;
  /** An analysis whose claims have not been read. */
  asked(values?: Rows): Promise<{ id: string }>;
  /** An analysis whose claims were read five minutes ago, with one citation for each of these. */
  checking(citations: readonly Rows[], values?: Rows): Promise<{ id: string }>;
  worker(values?: Values): Promise<{ id: string }>;
  redeploy(values?: Values): Promise<void>;
  pause(queue: string): Promise<void>;
  rest(queue: string): Promise<void>;
  /** An upload of someone else's with so many files that came before. */
  otherUpload(files: number): Promise<void>;
  /** So many analyses of others that were asked for before. */
  otherAnalysis(n: number): Promise<void>;
  /** So many reports of others with two citations being checked each. */
  otherChecks(n: number): Promise<void>;
  /** Another report of the same user with so many citations being checked. */
  ownChecks(n: number): Promise<void>;
  /** Analyses of others that went well: what an estimate rests on. Each took a minute and a half to check twenty citations, give or take. */
  past(n?: number): Promise<void>;
  /** Uploads of others that went well. */
  pastUploads(n?: number): Promise<void>;
  /** Minute samples of a queue: as many waits and runs of these lengths (milliseconds). */
  samples(queue: string, ms: number, n?: number): Promise<void>;
}

const ENDED: readonly unknown[] = ['succeeded', 'failed', 'cancelled'];

export function journeyWorld(pool: pg.Pool): JourneyWorld {
  async function checkingOf(owner: typeof OWN, citations: readonly Rows[], values: Rows = {}) {
    const open = citations.filter(({ state = 'queued' }) => !ENDED.includes(state)).length;
    const succeeded = citations.filter(({ state }) => state === 'succeeded').length;
    const analysis = await insertAnalysis(pool, {
      ...owner, created_at: ago('6 minutes'), lease_token: 1, claimed_at: ago('330 seconds'), claims_total: citations.length, marks_seen: citations.length, marks_resolved: citations.length,
      total_children: citations.length, open_children: open, succeeded_children: succeeded, ...values,
    });
    for (const [ordinal, { state = 'queued', ...more }] of citations.entries()) {
      const held = state === 'queued' ? {} : { lease_token: 1, claimed_at: ago('2 minutes') };
      await insertCitation(pool, analysis.id, ordinal, { ...owner, created_at: ago('5 minutes'), state, ...held, ...(ENDED.includes(state) ? { finished_at: ago('1 minute') } : {}), ...more });
    }
    return analysis;
  }

  return {
    async clear() {
      await pool.query(`delete from job_citations; delete from analysis_jobs; delete from parse_items; delete from parse_jobs; delete from session_sources; delete from documents;
        delete from redeploys; delete from queue_pauses; delete from breakers; delete from queue_minutes; delete from queue_events; delete from operator_actions; delete from workers`);
      await pool.query(`update sweeps set last_run_at = now() - interval '10 seconds', interval_seconds = 30`);
    },
    async upload(files, job = {}) {
      const open = files.filter(({ state }) => !ENDED.includes(state)).length;
      const good = files.filter(({ state }) => state === 'succeeded').length;
      const state = open > 0 ? 'awaiting' : good > 0 ? 'succeeded' : 'failed';
      const { id } = await insertParseJob(pool, { ...OWN, created_at: ago('10 minutes'), open_children: open, total_children: files.length, succeeded_children: good, state, ...job });
      for (const [n, file] of files.entries()) {
        await insertParseItem(pool, { ...OWN, job_id: id, filename: `file-${n}.pdf`, created_at: ago('10 minutes'), ...(file.state === 'succeeded' ? { claimed_at: ago('9 minutes'), finished_at: ago('8 minutes') } : {}), ...file });
      }
      return { id };
    },
    async link(n = 1) {
      for (let k = 0; k < n; k += 1) await insertRow(pool, 'session_sources', { ...OWN, document_id: (await insertDocument(pool, { user_id: USER })).id, linked_by: 'parse_item' });
    },
    asked: (values = {}) => insertAnalysis(pool, { ...OWN, state: 'queued', total_children: 0, created_at: ago('2 minutes'), ...values }),
    checking: (citations, values) => checkingOf(OWN, citations, values),
    worker: (values = {}) => insertWorker(pool, { capabilities: ['parse', 'citations'], label: 'worker-a', version: 'v43', ...values }),
    async redeploy(values = {}) {
      await insertRow(pool, 'redeploys', { id: uuidv7(), role: 'worker', from_version: 'v42', to_version: uuidv7(), started_at: ago('4 minutes'), ended_at: ago('3 minutes'), ...values });
    },
    async pause(queue) {
      await insertRow(pool, 'queue_pauses', { queue, paused_by: 'Ada', reason: 'maintenance' });
    },
    async rest(queue) {
      await insertRow(pool, 'breakers', { queue, opened_at: ago('1 minute'), retry_at: ahead('2 minutes'), failures: 3, reason: 'the model did not answer' });
    },
    async otherUpload(files) {
      const other = { user_id: 'other', session_id: 'other-session' };
      const job = await insertParseJob(pool, { ...other, open_children: files, total_children: files });
      for (let k = 0; k < files; k += 1) await insertParseItem(pool, { ...other, job_id: job.id, run_after: ago('20 minutes') });
    },
    async otherAnalysis(n) {
      for (let k = 0; k < n; k += 1) await insertAnalysis(pool, { user_id: 'other', session_id: `other-${k}`, state: 'queued', total_children: 0, run_after: ago('20 minutes') });
    },
    async otherChecks(n) {
      for (let k = 0; k < n; k += 1) await checkingOf({ user_id: `other-${k}`, session_id: 'other-session' }, [{ state: 'running' }, { state: 'running' }, { state: 'queued' }]);
    },
    async ownChecks(n) {
      await checkingOf({ user_id: USER, session_id: 'another-session' }, Array.from({ length: n }, () => ({ state: 'running' as const })));
    },
    async past(n = 12) {
      for (let k = 0; k < n; k += 1) {
        const other = { user_id: `other-${k}`, session_id: `other-session-${k}` };
        const seconds = (s: number) => ago(`${3600 + k * 60 - s} seconds`);
        const took = 80 + 2 * k;
        const analysis = await insertAnalysis(pool, { ...other, state: 'succeeded', lease_token: 1, created_at: seconds(0), claimed_at: seconds(2), finished_at: seconds(10 + took), claims_total: 20, total_children: 20, succeeded_children: 20 });
        for (let ordinal = 0; ordinal < 20; ordinal += 1) {
          const end = 10 + (took * (ordinal + 1)) / 20;
          await insertCitation(pool, analysis.id, ordinal, { ...other, state: 'succeeded', created_at: seconds(10), claimed_at: seconds(end - 3), finished_at: seconds(end) });
        }
      }
    },
    async pastUploads(n = 12) {
      for (let k = 0; k < n; k += 1) {
        const other = { user_id: `other-${k}`, session_id: `other-session-${k}` };
        const seconds = (s: number) => ago(`${7200 + k * 60 - s} seconds`);
        const job = await insertParseJob(pool, { ...other, state: 'succeeded', created_at: seconds(0), finished_at: seconds(30 + k), open_children: 0, total_children: 2, succeeded_children: 2 });
        for (const end of [12 + k, 24 + k]) await insertParseItem(pool, { ...other, job_id: job.id, state: 'succeeded', byte_size: 64, created_at: seconds(0), claimed_at: seconds(1), finished_at: seconds(end) });
      }
    },
    async samples(queue, ms, n = 40) {
      const histogram = Array.from({ length: BUCKET_BOUNDS_MS.length + 1 }, (_, bucket) => (bucket === BUCKET_BOUNDS_MS.findIndex((bound) => bound > ms) ? n : 0));
      await insertRow(pool, 'queue_minutes', { queue, minute: sql(`date_trunc('minute', now()) - interval '5 minutes'`), enqueued: n, acquired: n, succeeded: n, failed: 0, cancelled: 0, given_back: 0, lost: 0, late_writes: 0, waits: histogram, runs: histogram });
    },
  };
}
