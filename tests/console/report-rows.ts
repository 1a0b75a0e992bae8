import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { RowState } from '../support/factories.js';
import { insertRow, leaseColumns } from '../support/factories.js';

type Values = Record<string, unknown>;

/** An analysis in any state; it awaits one check when it awaits. */
export function insertAnalysis(db: pg.Pool, { state = 'awaiting', ...values }: Values & { state?: RowState } = {}) {
  return insertRow<{ id: string }>(db, 'analysis_jobs', {
    id: uuidv7(), user_id: 'user-1', session_id: 'session-1', open_children: state === 'awaiting' ? 1 : 0, total_children: 1, judge: 'offline-lexical', ...leaseColumns(state), ...values,
  });
}

/** Every text column carries the word "secret", so that a test can look for it anywhere. */
export function insertCitation(db: pg.Pool, jobId: string, ordinal: number, { state = 'queued', ...values }: Values & { state?: RowState } = {}) {
  return insertRow<{ id: string }>(db, 'job_citations', {
    id: uuidv7(), job_id: jobId, user_id: 'user-1', session_id: 'session-1', ordinal, claim: 'a secret claim', mark: '(Secret, 2004)', page: 3, char_from: 10, char_to: 24,
    locator: 'p. secret', entry: 'Secret (2004). A secret title.', rationale: 'since secret',
    verdict: state === 'succeeded' ? 'supported' : null, ...leaseColumns(state), ...values,
  });
}
