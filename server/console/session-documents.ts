import { sql } from 'kysely';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** A linked document by its counts, never its text. Instants in milliseconds since 1970 on the database clock. */
export interface SourceView {
  id: string;
  filename: string;
  pages: number;
  /** 1-based. */
  failedPages: number[];
  quality: string;
  linkedAt: number;
  linkedBy: string;
  /** Persisted now. */
  chunks: number;
  /** How many the parser had made of it; null for a document that was parsed in another session. */
  made: number | null;
  /** Length of the text behind them, UTF-16 code units. */
  chars: number;
  embedded: number;
  /** Names of the models that embedded it. */
  models: string[];
}

/** Files of the session's uploads that have not become a linked document. */
export interface StagedView {
  /** Not parsed yet: their bytes are in Postgres (a named constraint holds that). */
  open: number;
  /** Parsed, their document exists and is not linked: by a reset of the user's, or until the job's end repairs it. */
  unlinked: number;
}

interface Key {
  userId: string;
  sessionId: string;
}

/** More documents than this are no session to read line by line. */
const SOURCES_SHOWN = 200;

export async function readSources(reader: Reader, { userId, sessionId }: Key): Promise<{ sources: SourceView[]; moreSources: boolean }> {
  const { rows } = await sql<SourceView>`
    with made as (select document_id, max(chunk_count) as n from parse_items
      where session_id = ${sessionId} and user_id = ${userId} and document_id is not null group by 1)
    select d.id, d.filename, d.page_count as pages, d.failed_pages as "failedPages", d.quality,
      ${ms('s.linked_at')} as "linkedAt", s.linked_by as "linkedBy", c.chunks, made.n as made, c.chars, c.embedded, c.models
    from session_sources s join documents d on d.id = s.document_id and d.user_id = s.user_id
    left join made on made.document_id = d.id
    cross join lateral (
      select count(*)::int as chunks, coalesce(max(char_to), 0) as chars, count(embedding_model)::int as embedded,
        coalesce(array_agg(distinct embedding_model) filter (where embedding_model is not null), '{}') as models
      from document_chunks where document_id = d.id) c
    where s.user_id = ${userId} and s.session_id = ${sessionId}
    order by s.linked_at, d.id limit ${sql.lit(SOURCES_SHOWN + 1)}`.execute(reader);
  return { sources: rows.slice(0, SOURCES_SHOWN), moreSources: rows.length > SOURCES_SHOWN };
}

export async function readStaged(reader: Reader, { userId, sessionId }: Key): Promise<StagedView> {
  const { rows } = await sql<StagedView>`
    select count(*) filter (where i.finished_at is null)::int as open,
      (count(distinct i.document_id) filter (where i.state = 'succeeded' and not exists (
        select 1 from session_sources s where s.user_id = i.user_id and s.session_id = i.session_id and s.document_id = i.document_id)))::int as unlinked
    from parse_items i where i.session_id = ${sessionId} and i.user_id = ${userId}`.execute(reader);
  return rows[0]!;
}
