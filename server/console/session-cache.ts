import { sql } from 'kysely';
import { LIVE } from './now-fleet.js';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** A live process that has checked citations of the session so lately that it may keep the session's index. */
export interface KeeperView {
  id: string;
  label: string;
  version: string;
  /** Its last check (ms since 1970, database clock). */
  at: number;
}

/** Newest citations that are looked through. */
const CITATIONS_WALKED = 200;
const KEEPERS_SHOWN = 8;

/**
 * Indexes live in the memory of the processes that check citations, each its own, for `cacheSeconds` at most; no other process can look
 * into it. What the history knows is who had a reason to build one.
 */
export async function readKeepers(reader: Reader, { userId, sessionId }: { userId: string; sessionId: string }, cacheSeconds: number): Promise<KeeperView[]> {
  const { rows } = await sql<KeeperView>`
    select w.id, w.label, w.version, ${ms('max(e.at)')} as at
    from (select id from job_citations where session_id = ${sessionId} and user_id = ${userId} order by id desc limit ${sql.lit(CITATIONS_WALKED)}) c
    join queue_events e on e.row_id = c.id and e.cause = 'acquire' and e.at > now() - make_interval(secs => ${cacheSeconds})
    join workers w on w.id = e.worker_id
    where ${sql.raw(LIVE)}
    group by w.id, w.label, w.version order by 4 desc limit ${sql.lit(KEEPERS_SHOWN)}`.execute(reader);
  return rows;
}
