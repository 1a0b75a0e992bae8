/**
 * GET /api/sessions/:id/journey?userId=, made to be polled: one statement over small indexes says whether anything has changed since the
 * client's ETag, and only then the journey is read. While work is open the ETag changes every few seconds by itself, since what it tells of
 * the time depends on others' work as well. The journey itself is the console's (server/console/journey.ts): both are told the same.
 */
import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { JourneyOptions, JourneyView } from '../console/journey.js';
import { readJourney } from '../console/journey.js';
import type { StageState, StageView } from '../console/journey-stages.js';
import { ReadTimeoutError } from '../console/read.js';
import type { DB } from '../db/generated.js';
import { limited } from '../db/limited.js';
import { readId } from './ids.js';
import { Problem } from './problem.js';

/** How long an answer about open work is taken to hold (seconds). */
const HOLDS_SECONDS = 10;

export interface JourneyAnswer {
  stages: {
    name: StageView['name'];
    state: StageState;
    /** Files, claims or citations; null where nothing is counted (yet). */
    total: number | null;
    done: number | null;
    startedAt: string | null;
    finishedAt: string | null;
    holder: { label: string; version: string } | null;
  }[];
  /** With four chances in five it is done between the two; null when nobody can know. */
  eta: { from: string; to: string } | null;
  survivedRedeploys: number;
  /** Safe to show to the customer. Times in UTC. */
  answer: { en: string; de: string };
}

/** Whose. Read as uploads read theirs. @throws Problem 400 */
export function readJourneyKey(userId: unknown, sessionId: unknown): { userId: string; sessionId: string } {
  return { userId: readId(userId, 'userId'), sessionId: readId(sessionId, 'the session id in the path') };
}

const OWN = 'where session_id = $2 and user_id = $1';
const versions = (table: string) => `(select count(*) || '.' || coalesce(sum(version), 0) from ${table} ${OWN})`;
const open = (table: string) => `exists (select 1 from ${table} ${OWN} and finished_at is null)`;

/** The ETag of the journey as it is now. @throws Problem 404 for a session that this user has nothing in, foreign and unknown alike. */
export async function readJourneyTag(pool: pg.Pool, { userId, sessionId }: { userId: string; sessionId: string }): Promise<string> {
  const { rows } = await pool.query<{ known: boolean; tag: string }>(limited(
    `select linked + files + analyses > 0 as known, concat_ws('-', jobs, items, reports, linked, case when open then held || '.' || tick end) as tag
       from (select ${versions('parse_jobs')} as jobs, ${versions('parse_items')} as items, ${versions('analysis_jobs')} as reports,
                    (select count(*) from session_sources ${OWN}) as linked, (select count(*) from parse_items ${OWN}) as files, (select count(*) from analysis_jobs ${OWN}) as analyses,
                    ${open('parse_jobs')} or ${open('analysis_jobs')} as open,
                    (select count(*) from job_citations where user_id = $1 and state = 'running') as held,
                    floor(extract(epoch from now()) / ${HOLDS_SECONDS}) as tick) facts`, [userId, sessionId]));
  if (!rows[0]!.known) throw sessionNotFound();
  return `"${rows[0]!.tag}"`;
}

/** @throws Problem 404 as readJourneyTag, 503 when the database takes too long. */
export async function answerJourney(kysely: Kysely<DB>, key: { userId: string; sessionId: string }, options: JourneyOptions): Promise<JourneyAnswer> {
  try {
    const view = await readJourney(kysely, key, options);
    if (!view) throw sessionNotFound();
    return answerOf(view);
  } catch (error) {
    if (error instanceof ReadTimeoutError) throw new Problem(503, 'database_slow', 'The database took too long to answer. Ask again in a few seconds.', { headers: { 'Retry-After': '5' }, cause: error });
    throw error;
  }
}

function answerOf({ stages, eta, survivedRedeploys, answer }: JourneyView): JourneyAnswer {
  return {
    stages: stages.map(({ name, state, total, done, startedAt, finishedAt, holders }) => ({ name, state, total, done, startedAt: iso(startedAt), finishedAt: iso(finishedAt), holder: holderOf(holders) })),
    eta: eta && { from: new Date(eta.from).toISOString(), to: new Date(eta.to).toISOString() }, survivedRedeploys, answer,
  };
}

function holderOf([first]: StageView['holders']): { label: string; version: string } | null {
  return first ? { label: first.label, version: first.version } : null;
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function sessionNotFound(): Problem {
  return new Problem(404, 'session_not_found', 'This user has no such session. Use the userId and the sessionId with which its sources were uploaded.');
}
