import type pg from 'pg';

export interface SourceLink {
  userId: string;
  sessionId: string;
  documentIds: readonly string[];
  linkedBy: 'upload' | 'parse_item' | 'parse_job' | 'resolve';
  /** The upload whose end links them: what the user has unlinked since it was accepted stays unlinked. */
  parseJobId?: string;
}

/**
 * Links the user's documents to a session. Safe to repeat: an existing link keeps its time and its origin; a document that is not that
 * user's, or was erased meanwhile, is passed over. @returns how many links are new. Needs no transaction.
 */
export async function linkSource(db: Pick<pg.Pool, 'query'>, link: SourceLink): Promise<number> {
  // In id order: two callers that link the same documents never wait for each other crosswise.
  const { rowCount } = await db.query({
    text: `insert into session_sources (user_id, session_id, document_id, linked_by)
           select user_id, $2, id, $4 from (
             select user_id, id from documents where id = any ($3::uuid[]) and user_id = $1
                and not exists (select 1 from parse_jobs j where j.id = $5 and (j.unlinked_all or documents.id = any (j.unlinked_documents)))
              order by id for key share
           ) as own
           on conflict do nothing`,
    values: [link.userId, link.sessionId, link.documentIds, link.linkedBy, link.parseJobId ?? null],
  });
  return rowCount ?? 0;
}
