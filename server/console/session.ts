import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueDefinition } from '../lease/queues.js';
import { analysisJobs, parseJobs } from '../lease/queues.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import { selectRows, tableOf } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';
import type { KeeperView } from './session-cache.js';
import { readKeepers } from './session-cache.js';
import type { SourceView, StagedView } from './session-documents.js';
import { readSources, readStaged } from './session-documents.js';

export interface SessionPage extends Stamp {
  sessionId: string;
  userId: string;
  sources: SourceView[];
  moreSources: boolean;
  staged: StagedView;
  uploads: { rows: RowView[]; more: boolean };
  analyses: { rows: RowView[]; more: boolean };
  /** Who may keep the session's index in memory now. */
  keepers: KeeperView[];
  cacheSeconds: number;
}

/** Two users may have given a session the same id: then the address must say whose. */
export interface SessionAnswer {
  users: string[];
  page: SessionPage | null;
}

const JOBS_SHOWN = 20;
const USERS_SHOWN = 100;

/** A user's session, or the users that have one of this id. `cacheSeconds`: SOURCE_CACHE_TTL_SECONDS. Own read-only transaction. @throws ReadTimeoutError */
export function readSession(kysely: Kysely<DB>, sessionId: string, userId: string | null, cacheSeconds: number): Promise<SessionAnswer> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const users = await readUsers(reader, sessionId, userId);
    if (users.length !== 1) return { users, page: null };
    const key = { sessionId, userId: users[0]! };
    const sources = await readSources(reader, key);
    return {
      users,
      page: {
        ...stamp, ...key, ...sources, staged: await readStaged(reader, key),
        uploads: await readJobs(reader, parseJobs, key), analyses: await readJobs(reader, analysisJobs, key),
        keepers: await readKeepers(reader, key, cacheSeconds), cacheSeconds,
      },
    };
  });
}

async function readUsers(reader: Reader, sessionId: string, userId: string | null): Promise<string[]> {
  const of = (table: string) => sql`select user_id from ${sql.raw(table)} where session_id = ${sessionId} and (${userId}::text is null or user_id = ${userId})`;
  const { rows } = await sql<{ user_id: string }>`
    ${of('session_sources')} union ${of('parse_jobs')} union ${of('analysis_jobs')} order by 1 limit ${sql.lit(USERS_SHOWN)}`.execute(reader);
  return rows.map((row) => row.user_id);
}

async function readJobs(reader: Reader, queue: QueueDefinition, { sessionId, userId }: { sessionId: string; userId: string }): Promise<SessionPage['uploads']> {
  const { rows } = await sql<{ id: string }>`select id from ${tableOf(queue)} where session_id = ${sessionId} and user_id = ${userId}
    order by id desc limit ${sql.lit(JOBS_SHOWN + 1)}`.execute(reader);
  return { rows: await selectRows(reader, queue, rows.slice(0, JOBS_SHOWN).map((row) => row.id)), more: rows.length > JOBS_SHOWN };
}
