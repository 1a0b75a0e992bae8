/**
 * A user's reset: unlinks all sources of a session, or one document of it. The only statement that unlinks a source. Uploads of the session that
 * are still being parsed are told, so that their own end does not link again what was unlinked here.
 */
import type { Queryable } from '../lease/pump.js';
import { analysisJobs, OPEN_STATES, parseItems, parseJobs } from '../lease/queues.js';

const OPEN = OPEN_STATES.map((state) => `'${state}'`).join(', ');

export interface SourcesReset {
  userId: string;
  sessionId: string;
  /** Absent: all of them. */
  documentId?: string | undefined;
}

/** `told`: uploads of the session that will not link what they would have. */
export type ResetAnswer = { kind: 'unlinked'; unlinked: number; told: number } | { kind: 'analysis_running'; jobId: string };

/** Must run in a transaction that holds the user's lock. Foreign and unknown ids alike unlink nothing. */
export async function resetSources(tx: Queryable, { userId, sessionId, documentId }: SourcesReset): Promise<ResetAnswer> {
  const running = await tx.query({ text: `select id from ${analysisJobs.table} where user_id = $1 and session_id = $2 and state in (${OPEN}) order by id limit 1`, values: [userId, sessionId] });
  if (running.rows[0]) return { kind: 'analysis_running', jobId: running.rows[0].id as string };
  const told = await tellUploads(tx, userId, sessionId, documentId ?? null);
  const { rowCount } = await tx.query({
    text: 'delete from session_sources where user_id = $1 and session_id = $2 and ($3::uuid is null or document_id = $3)', values: [userId, sessionId, documentId ?? null],
  });
  return { kind: 'unlinked', unlinked: rowCount ?? 0, told };
}

/**
 * Waits for a settle that is linking right now (it holds its row), so that the delete that follows sees its link; one that comes later sees the
 * mark. Items before their jobs, ids ascending: the lock order. Uploads that have failed or were cancelled are told too: a re-kick would link.
 */
async function tellUploads(tx: Queryable, userId: string, sessionId: string, documentId: string | null): Promise<number> {
  await tx.query({ text: `select 1 from ${parseItems.table} where user_id = $1 and session_id = $2 and state in ('queued', 'running') order by id for update`, values: [userId, sessionId] });
  const { rowCount } = await tx.query({
    text: `with linking as materialized (
             select id from ${parseJobs.table}
              where user_id = $1 and session_id = $2 and state <> 'succeeded' and not unlinked_all and ($3::uuid is null or not $3::uuid = any (unlinked_documents)) order by id for update)
           update ${parseJobs.table} j
              set unlinked_all = j.unlinked_all or $3::uuid is null, unlinked_documents = case when $3::uuid is null then j.unlinked_documents else array_append(j.unlinked_documents, $3::uuid) end,
                  version = j.version + 1
             from linking l where j.id = l.id`,
    values: [userId, sessionId, documentId],
  });
  return rowCount ?? 0;
}
