import type pg from 'pg';

export interface SourceLink {
  userId: string;
  sessionId: string;
  documentIds: readonly string[];
  linkedBy: 'upload' | 'parse_item' | 'parse_job' | 'resolve';
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
             select user_id, id from documents where id = any ($3::uuid[]) and user_id = $1 order by id for key share
           ) as own
           on conflict do nothing`,
    values: [link.userId, link.sessionId, link.documentIds, link.linkedBy],
  });
  return rowCount ?? 0;
}
