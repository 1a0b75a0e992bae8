/** The recent past that the estimates rest on, read from rows in bounded numbers whatever their history. Instants in milliseconds since 1970. */
import { sql } from 'kysely';
import { percentile } from '../lease/samples.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { OpenRun, PastRun, PastStage } from './eta.js';
import { readHistogram } from './journey-outlook.js';
import type { JourneyKey } from './journey-rows.js';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** Finished runs that are looked at, out of so many of the newest rows. */
const RUNS = 60;
const NEWEST = 600;
/** Steps known of each run: a sample of its citations, evenly spread over the thesis. */
const STEPS = 40;
/** Older ones say nothing of today's service. */
const RECENT = `interval '14 days'`;

/** One finished analysis. */
export interface PastAnalysis {
  checks: PastRun;
  /** The reading of its claims, and everything from then on. Units are the pages of the thesis. */
  reading: PastStage;
}

interface AnalysisSample {
  total: number;
  pages: number | null;
  claimedAt: number;
  readAt: number;
  finishedAt: number;
  /** Ends of the sampled citations that had to be checked, ascending, and how many were sampled in all. */
  steps: number[] | null;
  sampled: number;
}

export async function readPastAnalyses(reader: Reader): Promise<PastAnalysis[]> {
  const { rows } = await sql<AnalysisSample>`
    with newest as (select id, state, total_children, thesis_document_id, claimed_at, finished_at from analysis_jobs order by id desc limit ${sql.lit(NEWEST)}),
    recent as materialized (select * from newest where state = 'succeeded' and total_children > 0 and claimed_at is not null and finished_at > now() - ${sql.raw(RECENT)}
      order by id desc limit ${sql.lit(RUNS)})
    select r.total_children as total, d.page_count as pages, ${ms('r.claimed_at')} as "claimedAt", ${ms('r.finished_at')} as "finishedAt",
      ${ms('f.created_at')} as "readAt", s.steps, s.sampled
    from recent r
    join lateral (select created_at from job_citations where job_id = r.id order by ordinal limit 1) f on true
    cross join lateral (
      select array_agg(${ms('c.finished_at')} order by c.finished_at) filter (where c.claimed_at is not null) as steps, count(*)::int as sampled
      from generate_series(0, least(r.total_children, ${sql.lit(STEPS)}) - 1) k
      join job_citations c on c.job_id = r.id and c.ordinal = floor((k + 0.5) * r.total_children / least(r.total_children, ${sql.lit(STEPS)}))::int) s
    left join documents d on d.id = r.thesis_document_id
    order by r.id`.execute(reader);
  return rows.flatMap(pastAnalysis);
}

function pastAnalysis({ total, pages, claimedAt, readAt, finishedAt, steps, sampled }: AnalysisSample): PastAnalysis[] {
  if (!steps || readAt < claimedAt || finishedAt <= readAt) return [];
  return [{
    checks: { units: Math.max(1, Math.round((total * steps.length) / sampled)), startedAt: readAt, endedAt: finishedAt, steps },
    reading: { units: pages, tookMs: readAt - claimedAt, totalMs: finishedAt - claimedAt },
  }];
}

interface UploadSample {
  startedAt: number;
  endedAt: number;
  files: { bytes: number; at: number }[];
}

/** Finished uploads, by bytes: their steps are the ends of their files. */
export async function readPastUploads(reader: Reader): Promise<PastRun[]> {
  const { rows } = await sql<UploadSample>`
    with newest as (select id, state, created_at, finished_at from parse_jobs order by id desc limit ${sql.lit(NEWEST)}),
    recent as materialized (select * from newest where state = 'succeeded' and finished_at > now() - ${sql.raw(RECENT)} order by id desc limit ${sql.lit(RUNS)})
    select ${ms('r.created_at')} as "startedAt", ${ms('r.finished_at')} as "endedAt",
      coalesce((select json_agg(json_build_object('bytes', i.byte_size, 'at', ${ms('i.finished_at')}) order by i.finished_at) from parse_items i where i.job_id = r.id), '[]') as files
    from recent r order by r.id`.execute(reader);
  return rows.filter(({ files }) => files.length > 0).map(({ startedAt, endedAt, files }) => ({ units: bytesOf(files), startedAt, endedAt, steps: evenSteps(files) }));
}

function bytesOf(files: UploadSample['files']): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

const UPLOAD_STEPS = 20;

/** When each twentieth of the bytes was done: that of the file in which it lies. Files in the order in which they ended. */
export function evenSteps(files: UploadSample['files']): number[] {
  const all = bytesOf(files);
  return Array.from({ length: UPLOAD_STEPS }, (_, k) => {
    let done = 0;
    return files.find(({ bytes }) => (done += bytes) >= ((k + 1) / UPLOAD_STEPS) * all - 0.5)?.at ?? files.at(-1)!.at;
  });
}

/** The session's uploads that have not ended, as one run: pages that a parser has reported count for their share of the file. Null without one. */
export async function readOpenUpload(reader: Reader, { userId, sessionId }: JourneyKey): Promise<OpenRun | null> {
  const { rows } = await sql<{ units: number; startedAt: number; done: number; lastStepAt: number }>`
    select sum(i.byte_size)::float8 as units, ${ms('min(j.created_at)')} as "startedAt",
      sum(i.byte_size * case when i.finished_at is not null then 1 when i.state = 'running' and i.total > 0 then least(1, i.done::float8 / i.total) else 0 end)::float8 as done,
      ${ms(`greatest(min(j.created_at), max(i.finished_at), max(i.progressed_at) filter (where i.state = 'running'))`)} as "lastStepAt"
    from parse_jobs j join parse_items i on i.job_id = j.id
    where j.session_id = ${sessionId} and j.user_id = ${userId} and j.state in ('awaiting', 'queued', 'running') having count(*) > 0`.execute(reader);
  const found = rows[0];
  return found ? { units: found.units, startedAt: found.startedAt, share: found.units > 0 ? found.done / found.units : 0, lastStepAt: found.lastStepAt } : null;
}

/** A distribution is told as so many quantiles. */
const QUANTILES = 40;
/** Fewer waits are no distribution. */
const LEAST_WAITS = 10;

/** How long rows of a queue waited for a worker in the last hour or, if those are few, the last day: quantiles in milliseconds, from the minute samples. */
export async function readWaits(reader: Reader, queue: QueueDefinition): Promise<number[]> {
  const waits = await readHistogram(reader, queue, 'waits', LEAST_WAITS);
  return waits ? Array.from({ length: QUANTILES }, (_, k) => percentile(waits, (k + 0.5) / QUANTILES)!) : [];
}
