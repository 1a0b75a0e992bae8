/**
 * One statement a search form. Each walks an index that fits it and stops at a limit; none counts. tests/console/find-plans.test.ts and
 * bench/find.ts run exactly these.
 */
import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { QueueDefinition } from '../lease/queues.js';
import { analysisJobs, deployments, parseItems, parseJobs, queues } from '../lease/queues.js';
import type { HitRow, SessionKey, WorkerRow } from './find-view.js';
import { ms } from './read.js';
import { tableOf } from './row-select.js';

/** Hits of one group that are shown; a statement asks for one more, which says that there are more. */
export const HITS_SHOWN = 8;
const ASKED = sql.lit(HITS_SHOWN + 1);

/** Newest uploads or analyses of one address or user that are looked through for different sessions. */
const JOBS_WALKED = 200;
/** Newest processes that are looked through for a label. */
const WORKERS_WALKED = 2_000;

/** Short ids are shown of these; of the others something better is shown than an id. */
const SHOWN_BY_TAIL = [parseJobs, analysisJobs];

function columnsOf(queue: QueueDefinition, as: string) {
  const has = (column: string) => (queue.listColumns as readonly string[]).includes(column);
  const column = (name: string) => (has(name) ? sql.ref(`${as}.${name}`) : sql`null::text`);
  const parent = queue.parent ? sql.ref(`${as}.${queue.parent.column}`) : sql`null::uuid`;
  const name = has('filename') ? column('filename') : column('slug');
  return sql`${sql.lit(queue.table)}::text as "table", ${sql.ref(`${as}.id`)} as id, ${column('user_id')} as "userId", ${column('session_id')} as "sessionId",
    ${name} as name, ${column('project_id')} as project, ${parent} as "parentId", ${sql.ref(`${as}.state`)} as state, ${ms(`${as}.lease_expires_at`)} as "leaseExpiresAt",
    ${sql.ref(`${as}.error_code`)} as "errorCode", ${ms(`${as}.created_at`)} as at`;
}

function select(queue: QueueDefinition, condition: RawBuilder<unknown>) {
  return sql`(select ${columnsOf(queue, 'r')} from ${tableOf(queue)} r where ${condition} order by r.id desc limit ${ASKED})`;
}

/** Rows of every queue by their id: the whole of it is a range of one. */
export function rowsByRange([from, to]: readonly [string, string]): RawBuilder<HitRow> {
  const each = queues.map((queue) => select(queue, sql`r.id between ${from}::uuid and ${to}::uuid`));
  return sql<HitRow>`select * from (${sql.join(each, sql` union all `)}) found order by id desc limit ${ASKED}`;
}

/** Uploads and analyses by the end of their id. `tail` has at least eight digits and no hyphens. */
export function rowsByTail(tail: string): RawBuilder<HitRow> {
  const each = SHOWN_BY_TAIL.map((queue) => select(queue, sql`right(r.id::text, 8) = ${tail.slice(-8)}
    and right(replace(r.id::text, '-', ''), ${sql.lit(tail.length)}) = ${tail}`));
  return sql<HitRow>`select * from (${sql.join(each, sql` union all `)}) found order by id desc limit ${ASKED}`;
}

export interface DocumentRow {
  id: string;
  userId: string;
  filename: string;
  at: number;
  /** A session that it is linked to, the newest link first. */
  sessionId: string | null;
}

export function documentsByRange([from, to]: readonly [string, string]): RawBuilder<DocumentRow> {
  return sql<DocumentRow>`
    select d.id, d.user_id as "userId", d.filename, ${ms('d.created_at')} as at,
      (select s.session_id from session_sources s where s.user_id = d.user_id and s.document_id = d.id order by s.linked_at desc limit 1) as "sessionId"
    from documents d where d.id between ${from}::uuid and ${to}::uuid order by d.id desc limit ${ASKED}`;
}

/** Different addresses that begin like this, in their order: one step of the index each, however many uploads an address has. */
export function addressesFrom(start: string): RawBuilder<{ address: string }> {
  const next = (condition: RawBuilder<unknown>) => sql`select lower(p.user_email) as address from parse_jobs p where p.user_email is not null and ${condition}
    order by lower(p.user_email) using ~<~ limit 1`;
  const pattern = sql`lower(p.user_email) like lower(${likeStart(start)})`;
  return sql<{ address: string }>`
    with recursive addresses as (
      (${next(pattern)})
      union all
      select (${next(sql`${pattern} and lower(p.user_email) ~>~ a.address`)}) from addresses a where a.address is not null
    )
    select address from addresses where address is not null limit ${ASKED}`;
}

/** Sessions of the newest uploads under an address. */
export function sessionsOfAddress(address: string): RawBuilder<FoundKey> {
  return differentSessions(sql`select p.id, p.user_id, p.session_id from parse_jobs p where p.user_email is not null and lower(p.user_email) = lower(${address})
    order by p.id desc limit ${sql.lit(JOBS_WALKED)}`);
}

/** Sessions of the user's newest uploads and analyses. */
export function sessionsOfUser(user: string): RawBuilder<FoundKey> {
  const of = (queue: QueueDefinition) => sql`(select r.id, r.user_id, r.session_id from ${tableOf(queue)} r where r.user_id = ${user} order by r.id desc limit ${sql.lit(JOBS_WALKED)})`;
  return differentSessions(sql`${of(parseJobs)} union all ${of(analysisJobs)}`);
}

/** `full`: there may be older sessions behind the jobs that were looked through. */
export interface FoundKey extends SessionKey {
  full?: boolean;
}

function differentSessions(jobs: RawBuilder<unknown>): RawBuilder<FoundKey> {
  return sql<FoundKey>`
    with jobs as materialized (${jobs})
    select user_id as "userId", session_id as "sessionId", (select count(*) from jobs) >= ${sql.lit(JOBS_WALKED)} as "full" from (
      select distinct on (user_id, session_id) user_id, session_id, id from jobs order by user_id, session_id, id desc) sessions
    order by id desc limit ${ASKED}`;
}

/** Whoever has a session of this id. */
export function sessionsById(session: string): RawBuilder<FoundKey> {
  const of = (table: string) => sql`(select user_id as "userId", session_id as "sessionId" from ${sql.raw(table)} where session_id = ${session} limit ${sql.lit(JOBS_WALKED)})`;
  return sql<FoundKey>`${of('parse_jobs')} union ${of('analysis_jobs')} union ${of('session_sources')} order by 1 limit ${ASKED}`;
}

export interface SessionRow extends SessionKey {
  upload: HitRow | null;
  analysis: HitRow | null;
  email: string | null;
}

/** The newest upload and analysis of each session, in the order of the keys. */
export function newestOf(keys: readonly SessionKey[]): RawBuilder<SessionRow> {
  const newest = (queue: QueueDefinition) => sql`(select to_jsonb(x) from (select ${columnsOf(queue, 'r')} from ${tableOf(queue)} r
    where r.session_id = k.session_id and r.user_id = k.user_id order by r.id desc limit 1) x)`;
  return sql<SessionRow>`
    select k.user_id as "userId", k.session_id as "sessionId", ${newest(parseJobs)} as upload, ${newest(analysisJobs)} as analysis,
      (select p.user_email from parse_jobs p where p.session_id = k.session_id and p.user_id = k.user_id and p.user_email is not null order by p.id desc limit 1) as email
    from unnest(${keys.map((key) => key.userId)}::text[], ${keys.map((key) => key.sessionId)}::text[]) with ordinality k(user_id, session_id, n) order by k.n`;
}

/** Apps whose slug or project begins like this, the whole names first; and the apps of a user. */
export function deploymentsBy(name: string, slug: string | null): RawBuilder<HitRow> {
  const starts = (column: string, value: string) => sql`(select ${columnsOf(deployments, 'r')} from deployments r where ${sql.ref(`r.${column}`)} like ${likeStart(value)}
    order by ${sql.ref(`r.${column}`)} using ~<~ limit ${ASKED})`;
  const found = [starts('project_id', name), select(deployments, sql`r.user_id = ${name}`)];
  if (slug !== null) found.push(starts('slug', slug));
  return sql<HitRow>`select * from (${sql.join(found, sql` union `)}) found
    order by (name = ${slug} or project = ${name}) is not true, name limit ${ASKED}`;
}

/** Processes by the start of their label or their id: among the newest, and the live ones however old. */
export function workersBy(name: string): RawBuilder<WorkerRow> {
  const fits = sql`(starts_with(lower(w.label), lower(${name})) or starts_with(w.id, ${name}))`;
  const columns = sql`w.id, w.label, w.role, w.version, w.capabilities, w.started_at, w.stopped_at, w.gone_at, w.draining_since, w.drained_by`;
  return sql<WorkerRow>`
    select id, label, role, version, capabilities, ${ms('started_at')} as "startedAt",
      case when stopped_at is not null or gone_at is not null then 'ended' when drained_by = 'operator' then 'drained' when draining_since is not null then 'draining' else 'live' end as condition
    from (
      (select ${columns} from (select * from workers order by started_at desc, id desc limit ${sql.lit(WORKERS_WALKED)}) w where ${fits} limit ${ASKED})
      union (select ${columns} from workers w where w.stopped_at is null and w.gone_at is null and ${fits} limit ${ASKED})
      union (select ${columns} from workers w where w.id = ${name})) found
    order by (stopped_at is null and gone_at is null) desc, started_at desc, id limit ${ASKED}`;
}

/** A LIKE pattern for texts that begin with `text`. */
export function likeStart(text: string): string {
  return `${literal(text)}%`;
}

/** A LIKE pattern for texts that contain `text`. */
export function likePart(text: string): string {
  return `%${literal(text)}%`;
}

function literal(text: string): string {
  return text.replace(/[\\%_]/g, (sign) => `\\${sign}`);
}

export function itemColumns() {
  return columnsOf(parseItems, 'r');
}
