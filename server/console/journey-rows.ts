import { sql } from 'kysely';
import { survived } from '../lease/redeploys.js';
import type { Group } from './journey-group.js';
import { groupColumns } from './journey-group.js';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** Whose journey: the user's session, and which of its analyses (the latest if not said). */
export interface JourneyKey {
  userId: string;
  sessionId: string;
  analysisId?: string;
}

export interface AnalysisFacts {
  id: string;
  version: number;
  state: 'awaiting' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  createdAt: number;
  finishedAt: number | null;
  runAfter: number;
  /** Since when it has waited for a worker, if it waits. */
  waitsSince: number;
  errorCode: string | null;
  /** When its claims were read: its checks come into being in that moment. */
  readAt: number | null;
  claims: number | null;
  marks: { seen: number; resolved: number } | null;
  /** Sources that were there when its claims were read. */
  pinned: number | null;
  thesisPages: number | null;
  checks: { total: number; open: number };
}

export interface FileFailure {
  id: string;
  filename: string;
  code: string;
}

export interface FilesFacts extends Group {
  uploads: number;
  bytes: number;
  bytesDone: number;
  firstAt: number | null;
  lastAt: number | null;
  failures: FileFailure[];
}

export interface UploadsFacts extends Group {
  awaiting: number;
  latest: string | null;
  latestVersion: number | null;
}

export interface ChecksFacts extends Group {
  /** Whose source is missing: known when the claims were read, nobody had to check them. */
  missing: number;
  failures: { code: string; n: number }[];
}

/** A change of version that the journey lived through. */
export interface SurvivedRedeploy {
  id: string;
  role: string;
  fromVersion: string;
  toVersion: string;
  startedAt: number;
}

/** The asked-for analysis or the latest; null without one. */
export async function readAnalysis(reader: Reader, { userId, sessionId, analysisId }: JourneyKey): Promise<AnalysisFacts | null> {
  const { rows } = await sql<AnalysisFacts>`
    select a.id, a.version::float8 as version, a.state, ${ms('a.created_at')} as "createdAt", ${ms('a.finished_at')} as "finishedAt", ${ms('a.run_after')} as "runAfter", ${ms('greatest(a.run_after, a.queued_at)')} as "waitsSince", a.error_code as "errorCode",
      case when a.claims_total is not null then coalesce(
        (select ${ms('c.created_at')} from job_citations c where c.job_id = a.id order by c.ordinal limit 1), ${ms('a.finished_at')}) end as "readAt",
      a.claims_total as claims, case when a.marks_seen is not null then json_build_object('seen', a.marks_seen, 'resolved', coalesce(a.marks_resolved, 0)) end as marks,
      cardinality(a.pinned_documents) as pinned, d.page_count as "thesisPages",
      json_build_object('total', a.total_children, 'open', a.open_children) as checks
    from analysis_jobs a left join documents d on d.id = a.thesis_document_id and d.user_id = a.user_id
    where a.session_id = ${sessionId} and a.user_id = ${userId} and (${analysisId ?? null}::uuid is null or a.id = ${analysisId ?? null}::uuid)
    order by a.id desc limit 1`.execute(reader);
  return rows[0] ?? null;
}

/** Its reading of the thesis: the analysis's own lease, as a group of one. */
export async function readReading(reader: Reader, { id, readAt }: AnalysisFacts): Promise<Group> {
  const workEnd = readAt === null ? 'r.finished_at' : `to_timestamp(${(readAt / 1000).toFixed(3)})`;
  const { rows } = await sql<Group>`select ${groupColumns(workEnd)} from analysis_jobs r where r.id = ${id}::uuid`.execute(reader);
  // An analysis that waits for uploads is taken and put off every few seconds: its tokens say nothing, its history does.
  return { ...rows[0]!, putBack: await countPutBack(reader, id) };
}

async function countPutBack(reader: Reader, id: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from queue_events where row_id = ${id}::uuid and cause in ('drain', 'unstarted', 'release', 'force_release', 'answer_lost', 'outage')`.execute(reader);
  return rows[0]!.n;
}

/** The rows of uploads that this journey is about: those that were there when the claims were read, or all. A file that came again under its name is told once, as it went last. */
function mine(table: string, { userId, sessionId }: JourneyKey, readAt: number | null) {
  return sql`${sql.raw(table)} r where r.session_id = ${sessionId} and r.user_id = ${userId} and (${readAt}::float8 is null or r.created_at <= to_timestamp(${readAt}::float8 / 1000))`;
}

const REPLACED = sql.raw(`(r.state in ('failed', 'cancelled') and exists (select 1 from mine later where later.filename = r.filename and later.id > r.id))`);

export async function readFiles(reader: Reader, key: JourneyKey, readAt: number | null): Promise<FilesFacts> {
  const { rows } = await sql<FilesFacts>`
    with mine as (select r.* from ${mine('parse_items', key, readAt)}),
    told as (select r.* from mine r where not ${REPLACED})
    select ${groupColumns()}, count(distinct r.job_id)::int as uploads,
      coalesce(sum(r.byte_size), 0)::float8 as bytes, coalesce(sum(r.byte_size) filter (where r.finished_at is not null), 0)::float8 as "bytesDone",
      ${ms('min(r.created_at)')} as "firstAt", ${ms('max(r.created_at)')} as "lastAt",
      coalesce((select json_agg(json_build_object('id', f.id, 'filename', f.filename, 'code', coalesce(f.error_code, f.state)) order by f.id)
         from (select * from told where state in ('failed', 'cancelled') order by id limit ${sql.lit(FAILURES)}) f), '[]') as failures
    from told r`.execute(reader);
  return rows[0]!;
}

/** More than one upload has. */
const FAILURES = 200;

/** The uploads themselves: what is left of them when their files have been parsed is to embed and link. */
export async function readUploads(reader: Reader, key: JourneyKey, readAt: number | null): Promise<UploadsFacts> {
  const { rows } = await sql<UploadsFacts>`
    select ${groupColumns()}, (count(*) filter (where r.state = 'awaiting'))::int as awaiting, (array_agg(r.id order by r.id desc))[1] as latest,
      (array_agg(r.version order by r.id desc))[1]::float8 as "latestVersion" from ${mine('parse_jobs', key, readAt)}`.execute(reader);
  return rows[0]!;
}

export async function readChecks(reader: Reader, jobId: string): Promise<ChecksFacts> {
  const { rows } = await sql<ChecksFacts>`
    select ${groupColumns()}, (count(*) filter (where r.state = 'succeeded' and r.claimed_at is null))::int as missing,
      coalesce((select json_agg(json_build_object('code', f.code, 'n', f.n) order by f.n desc, f.code)
         from (select coalesce(error_code, state) as code, count(*)::int as n from job_citations where job_id = ${jobId}::uuid and state in ('failed', 'cancelled') group by 1) f), '[]') as failures
    from job_citations r where r.job_id = ${jobId}::uuid`.execute(reader);
  return rows[0]!;
}

export interface Besides {
  /** Other analyses of the session. */
  analyses: number;
  /** Files that were uploaded after the claims were read: no part of the report. */
  laterFiles: number;
  /** Documents that the session has linked now. */
  linked: number;
}

export async function readBesides(reader: Reader, { userId, sessionId }: JourneyKey, analysis: AnalysisFacts | null): Promise<Besides> {
  const readAt = analysis?.readAt ?? null;
  const { rows } = await sql<Besides>`select
    (select count(*)::int from analysis_jobs where session_id = ${sessionId} and user_id = ${userId} and id is distinct from ${analysis?.id ?? null}::uuid) as analyses,
    (select count(*)::int from parse_items where session_id = ${sessionId} and user_id = ${userId} and created_at > to_timestamp(${readAt}::float8 / 1000)) as "laterFiles",
    (select count(*)::int from session_sources where session_id = ${sessionId} and user_id = ${userId}) as linked`.execute(reader);
  return rows[0]!;
}

/** Redeploys of web or worker that overlap the time of the analysis or of an upload it read, each from its creation to its end. */
export async function readSurvived(reader: Reader, key: JourneyKey, analysis: AnalysisFacts | null): Promise<SurvivedRedeploy[]> {
  const { rows } = await sql<SurvivedRedeploy>`
    with journey as (
      select created_at, finished_at from analysis_jobs where id = ${analysis?.id ?? null}::uuid
      union all select r.created_at, r.finished_at from ${mine('parse_jobs', key, analysis?.readAt ?? null)})
    select r.id, r.role, r.from_version as "fromVersion", r.to_version as "toVersion", ${ms('r.started_at')} as "startedAt"
    from redeploys r where exists (select 1 from journey j where ${sql.raw(survived('r', 'j'))})
    order by r.started_at, r.id limit 500`.execute(reader);
  return rows;
}

export interface StageHolder {
  stage: 'parsed' | 'claims' | 'checked';
  id: string;
  label: string;
  version: string;
  /** Rows that it holds, and how many of their leases have run out. */
  n: number;
  stale: number;
}

/** Who holds what of this journey right now, most first. */
export async function readHolders(reader: Reader, key: JourneyKey, analysisId: string | null): Promise<StageHolder[]> {
  const held = (stage: string, rows: ReturnType<typeof mine>) => sql`select ${sql.lit(stage)} as stage, r.worker_id, r.lease_expires_at from ${rows} and r.state = 'running'`;
  const { rows } = await sql<StageHolder>`
    select h.stage, h.worker_id as id, coalesce(w.label, h.worker_id) as label, coalesce(w.version, '?') as version, count(*)::int as n,
      (count(*) filter (where h.lease_expires_at < now()))::int as stale
    from (${held('parsed', mine('parse_items', key, null))} union all ${held('parsed', mine('parse_jobs', key, null))}
      union all ${held('claims', sql`analysis_jobs r where r.id = ${analysisId}::uuid`)}
      union all ${held('checked', sql`job_citations r where r.job_id = ${analysisId}::uuid`)}) h
    left join workers w on w.id = h.worker_id group by 1, 2, 3, 4 order by n desc, label limit 50`.execute(reader);
  return rows;
}

/** What an operator did to something of this journey, and it took effect. The reason is theirs, for the audit's readers. */
export interface JourneyAction {
  id: string;
  at: number;
  action: string;
  actor: string;
  reason: string | null;
  queue: string | null;
  rowId: string | null;
}

const ACTIONS = 50;

/** Newest first. */
export async function readActions(reader: Reader, key: JourneyKey, analysisId: string | null): Promise<JourneyAction[]> {
  const { rows } = await sql<JourneyAction>`
    with journey as (
      select ${analysisId}::uuid as id union all select r.id from ${mine('parse_items', key, null)} union all select r.id from ${mine('parse_jobs', key, null)}
      union all select id from job_citations where job_id = ${analysisId}::uuid),
    acted as (
      select o.* from journey j cross join lateral (select * from operator_actions where row_id = j.id and outcome = 'applied') o
      union all select o.* from operator_actions o where o.target_id = ${key.sessionId} and o.target_kind = 'session' and o.user_id = ${key.userId} and o.outcome = 'applied')
    select id::text as id, ${ms('at')} as at, action, actor_name as actor, reason, queue, row_id as "rowId" from acted order by acted.id desc limit ${sql.lit(ACTIONS)}`.execute(reader);
  return rows;
}
