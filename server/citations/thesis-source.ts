/** What an analysis reads from the database. Every statement names the user. */
import type pg from 'pg';
import type { SessionKey } from '../sources/source-chunks.js';
import type { StoredChunk } from './claims/document-text.js';
import type { CandidateDocument } from './claims/match-documents.js';

type Db = Pick<pg.Pool, 'query'>;

/** Chunks at the head of a source: more than the first 2,500 characters, which say what it is. */
const HEAD_CHUNKS = 4;

/** Whether uploads of this session are still being parsed. */
export async function uploadsOpen(db: Db, { userId, sessionId }: SessionKey): Promise<boolean> {
  const { rows } = await db.query<{ open: boolean }>({
    text: `select exists (select 1 from parse_jobs where user_id = $1 and session_id = $2 and state in ('awaiting', 'queued', 'running')) as open`,
    values: [userId, sessionId],
  });
  return rows[0]!.open;
}

/** The stored text of the user's document; undefined when there is no such document. */
export async function readThesisText(db: Db, userId: string, documentId: string): Promise<{ chunks: StoredChunk[]; pageStarts: number[] | null } | undefined> {
  const { rows } = await db.query<{ pageStarts: number[] | null; chunks: StoredChunk[] }>({
    text: `select page_starts as "pageStarts",
             coalesce((select json_agg(json_build_object('charFrom', char_from, 'charTo', char_to, 'pageFrom', page_from, 'pageTo', page_to, 'body', body) order by ordinal)
                         from document_chunks where document_id = d.id), '[]') as chunks
           from documents d where d.id = $2 and d.user_id = $1`,
    values: [userId, documentId],
  });
  return rows[0];
}

/** The session's sources other than the thesis, each with its beginning. */
export async function readCandidates(db: Db, { userId, sessionId }: SessionKey, thesisId: string): Promise<CandidateDocument[]> {
  const { rows } = await db.query<CandidateDocument>({
    text: `select d.id, d.filename,
             coalesce((select string_agg(c.body, E'\\n' order by c.ordinal) from document_chunks c where c.document_id = d.id and c.ordinal < ${HEAD_CHUNKS}), '') as head
           from session_sources s join documents d on d.id = s.document_id and d.user_id = s.user_id
           where s.user_id = $1 and s.session_id = $2 and d.id <> $3 order by d.id`,
    values: [userId, sessionId, thesisId],
  });
  return rows;
}
