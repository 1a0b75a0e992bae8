import { sql } from 'kysely';
import { survived } from '../lease/redeploys.js';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** The files of the session up to the moment at which the claims were read. Instants in milliseconds since 1970 on the database clock. */
export interface FilesView {
  total: number;
  succeeded: number;
  /** Failed or cancelled. */
  unread: number;
  firstAt: number | null;
  /** When the last of them had been parsed; null while any is open. */
  parsedAt: number | null;
}

export interface CheckHolder {
  id: string;
  label: string;
  version: string;
  n: number;
}

/** A change of version that the analysis lived through. */
export interface SurvivedRedeploy {
  id: string;
  role: string;
  fromVersion: string;
  toVersion: string;
  startedAt: number;
}

/** @param readAt when the claims were read (ms since 1970), null if they were not yet. */
export async function readFiles(reader: Reader, userId: string, sessionId: string, readAt: number | null): Promise<FilesView> {
  const { rows } = await sql<FilesView>`
    select count(*)::int as total, count(*) filter (where state = 'succeeded')::int as succeeded,
      count(*) filter (where state in ('failed', 'cancelled'))::int as unread, ${ms('min(created_at)')} as "firstAt",
      case when bool_and(finished_at is not null) then ${ms('max(finished_at)')} end as "parsedAt"
    from parse_items where session_id = ${sessionId} and user_id = ${userId}
      and (${readAt}::float8 is null or created_at <= to_timestamp(${readAt}::float8 / 1000))`.execute(reader);
  return rows[0]!;
}

/** Who checks citations of this analysis right now. */
export async function readHolders(reader: Reader, jobId: string): Promise<CheckHolder[]> {
  const { rows } = await sql<CheckHolder>`
    select c.worker_id as id, coalesce(w.label, c.worker_id) as label, coalesce(w.version, '?') as version, count(*)::int as n
    from job_citations c left join workers w on w.id = c.worker_id
    where c.job_id = ${jobId}::uuid and c.state = 'running' group by 1, 2, 3 order by 4 desc, 2 limit 50`.execute(reader);
  return rows;
}

/** Redeploys of web or worker that overlap the analysis from its creation to its end. */
export async function readSurvived(reader: Reader, jobId: string): Promise<SurvivedRedeploy[]> {
  const { rows } = await sql<SurvivedRedeploy>`
    select r.id, r.role, r.from_version as "fromVersion", r.to_version as "toVersion", ${ms('r.started_at')} as "startedAt"
    from analysis_jobs a join redeploys r
      on ${sql.raw(survived('r', 'a'))}
    where a.id = ${jobId}::uuid order by r.started_at, r.id limit 500`.execute(reader);
  return rows;
}
