/** What must be true when it is quiet again. Each answers the rows that offend; none is the only good answer. */
import fs from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { checkInvariants } from '../../server/lease/invariants.js';
import { queues, type QueueDefinition } from '../../server/lease/queues.js';
import { endedStates } from '../../server/lease/words.js';
import { isParser, processesWithTemporaryFolder } from '../stage/process.js';
import type { Accepted } from './load.js';
import { LIMITS, PROMISED_WAIT_MS, SLACK_MS } from './settings.js';
import type { Stage } from './stage.js';

export interface Offence {
  rule: string;
  rows: unknown[];
}

/** Codes that say that we lost it: none may be the end of anything. */
const LOST = `('worker_lost', 'blob_expired', 'internal', 'parser_crashed', 'sources_unavailable')`;

/** All but our own. */
const OTHER_BACKENDS = `pg_stat_activity where datname = current_database() and backend_type = 'client backend' and application_name <> 'chaos'`;

interface Rule {
  rule: string;
  sql: string;
  values?: unknown[];
}

function rulesFor(accepted: Accepted): Rule[] {
  const uploads = accepted.uploads.map(({ jobId }) => jobId);
  const items = accepted.uploads.flatMap((upload) => upload.items.map(({ itemId }) => itemId));
  const analyses = accepted.analyses.map(({ jobId }) => jobId);
  const missing = (table: string, ids: readonly string[]): Rule =>
    ({ rule: `what was accepted exists: ${table}`, sql: `select id from unnest($1::uuid[]) as a(id) where not exists (select 1 from ${table} t where t.id = a.id)`, values: [ids] });
  return [
    ...queues.map((queue) => ({ rule: `everything has ended: ${queue.table}`, sql: `select id, state, lease_token::text, worker_id, run_after, error_code from ${queue.table} where state not in ${endedStates(queue)}` })),
    ...queues.map((queue) => ({ rule: `nothing was lost: ${queue.table}`, sql: `select id, state, error_code, error_message, attempt, lost_leases from ${queue.table} where state = 'failed' and error_code in ${LOST}` })),
    ...queues.filter((queue) => !queue.sharedBy && !queue.words).map(overtaken),
    missing('parse_jobs', uploads), missing('parse_items', items), missing('analysis_jobs', analyses),
    {
      rule: 'what was accepted ended exactly once',
      sql: `select a.id, count(e.id)::int as ends from unnest($1::uuid[]) as a(id) left join queue_events e on e.row_id = a.id and e.to_state in ('succeeded', 'failed', 'cancelled')
            group by a.id having count(e.id) <> 1`,
      values: [[...uploads, ...items, ...analyses]],
    },
    {
      rule: 'a good file succeeds with a document, a broken one fails for what it is',
      sql: `select id, filename, state, error_code, document_id from parse_items
             where state <> 'cancelled' and not case when filename like 'broken-%' then state = 'failed' and error_code in ('damaged_pdf', 'not_a_pdf', 'no_text') else state = 'succeeded' and document_id is not null end`,
    },
    {
      rule: 'a file is one document, and its passages are embedded',
      sql: `select i.id, i.filename from parse_items i where i.state = 'succeeded' and i.job_id in (select id from parse_jobs where state = 'succeeded')
               and ((select count(*) from documents d where d.user_id = i.user_id and d.content_sha256 = i.content_sha256) <> 1
                 or not exists (select 1 from document_chunks c where c.document_id = i.document_id) or exists (select 1 from document_chunks c where c.document_id = i.document_id and c.embedding is null))`,
    },
    {
      rule: 'a citation has one verdict, and ended once',
      sql: `select c.id, c.state, c.verdict, (select count(*)::int from queue_events e where e.row_id = c.id and e.to_state in ('succeeded', 'failed', 'cancelled')) as ends from job_citations c
             where (c.state = 'succeeded') <> (c.verdict is not null) or (select count(*) from queue_events e where e.row_id = c.id and e.to_state in ('succeeded', 'failed', 'cancelled')) <> 1`,
    },
    {
      rule: 'an analysis has as many verdicts as claims',
      sql: `select j.id, j.state, j.claims_total, j.total_children, (select count(*)::int from job_citations c where c.job_id = j.id and c.verdict is not null) as verdicts from analysis_jobs j
             where j.state = 'succeeded' and (select count(*) from job_citations c where c.job_id = j.id and c.verdict is not null) <> j.total_children`,
    },
    {
      rule: 'an analysis that was not cancelled succeeds',
      sql: `select id, state, error_code, error_message from analysis_jobs where state not in ('succeeded', 'cancelled')`,
    },
    {
      rule: 'a publish ends live, cancelled, overtaken after silence, or with its build',
      sql: `select a.deployment_id, a.publish_no, a.publish_no = d.publish_no as newest, d.state, d.error_code, a.outcome, a.error_code as attempt_error from deployment_attempts a join deployments d on d.id = a.deployment_id
             where not case when a.publish_no = d.publish_no then d.state = 'live' or coalesce(d.error_code, '') in ('cancelled', 'build_failed')
                            else a.outcome in ('live', 'lost') or coalesce(a.error_code, '') in ('cancelled', 'build_failed') end`,
    },
  ];
}

/**
 * Free slots or not: a row that is due is taken before what comes after it. One that is passed over for longer than lease + sweep + poll by rows that have
 * only just come (their first lease: their place in the queue is the time since which they wait) lay where no claim looked.
 */
function overtaken({ table }: QueueDefinition): Rule {
  return {
    rule: `nothing is overtaken for longer than lease + sweep + poll: ${table}`,
    sql: `with taken as (select row_id, at, lease_token, waited_ms, at - waited_ms * interval '1 millisecond' as since from queue_events where queue = '${table}' and cause = 'acquire')
          select a.row_id as id, a.lease_token::text, a.since, a.at, a.waited_ms, b.row_id as "by", b.since as by_since, b.at as by_at from taken a
            cross join lateral (select * from taken b where b.lease_token = 1 and b.since > a.since and b.at > a.since + $1 * interval '1 millisecond' and b.at < a.at order by b.at limit 1) b
           where a.waited_ms > $1`,
    values: [PROMISED_WAIT_MS + SLACK_MS],
  };
}

/** The rows as they are committed, and what the orchestrator was asked for. */
export async function judgeRows(stage: Stage, accepted: Accepted): Promise<Offence[]> {
  const offences: Offence[] = [];
  for (const { rule, sql, values } of rulesFor(accepted)) {
    const { rows } = await stage.admin.query(`${sql} limit 20`, values ?? []);
    if (rows.length > 0) offences.push({ rule, rows });
  }
  for (const { invariant, expected, rows } of await checkInvariants(stage.admin, LIMITS)) offences.push({ rule: `${invariant}: ${expected}`, rows });
  return [...offences, ...await judgeBuilds(stage)];
}

/** One build an attempt, none still running, and what we call live is what the orchestrator has released. */
async function judgeBuilds({ admin, stub }: Stage): Promise<Offence[]> {
  const { builds } = stub.builds.state;
  const { rows: live } = await admin.query<{ id: string; release: string }>(`select id, live_release->>'releaseId' as release from deployments where state = 'live'`);
  const orders = new Map<string, number>();
  for (const { deploymentId, fence } of builds) orders.set(`${deploymentId}:${fence}`, (orders.get(`${deploymentId}:${fence}`) ?? 0) + 1);
  const found: Offence[] = [
    { rule: 'an attempt has one build', rows: [...orders].filter(([, count]) => count > 1) },
    { rule: 'no build goes on', rows: builds.filter(({ state }) => state === 'building') },
    { rule: 'what is live was released', rows: live.filter(({ id, release }) => !builds.some((build) => build.deploymentId === id && build.releaseId === release)) },
  ];
  return found.filter(({ rows }) => rows.length > 0);
}

/** While all five still run: each has the connections that it needs and no more. */
export async function judgeConnections({ admin, fleet }: Stage): Promise<Offence[]> {
  const { rows } = await admin.query<{ name: string; n: number }>(
    `select application_name as name, count(*)::int as n from pg_stat_activity where datname = current_database() and application_name like 'leaseboard %/%' group by 1`);
  const expected = fleet.slots.flatMap(({ role, version }) => (role === 'worker' ? ['pump', 'beats', 'listener'] : ['listener']).map((purpose) => `leaseboard ${role}/${purpose} ${version}`));
  const wrong = [...rows.filter(({ name, n }) => n !== 1 || !expected.includes(name)), ...expected.filter((name) => !rows.some((row) => row.name === name)).map((name) => ({ name, n: 0 }))];
  return wrong.length > 0 ? [{ rule: 'each process has its own connections, once, and nobody else has any', rows: wrong }] : [];
}

/** After all processes have ended, while the pooler still stands: a transaction or a lock that was left in one of its backends would go with it. */
export async function judgePooled({ admin }: Stage): Promise<Offence[]> {
  const busy = await admin.query(`select pid, application_name, state, left(query, 100) as query from ${OTHER_BACKENDS} and state <> 'idle'`);
  const locks = await admin.query(`select pid, mode, classid, objid from pg_locks where locktype = 'advisory'`);
  const found: Offence[] = [
    { rule: 'no pooled backend is busy', rows: busy.rows },
    { rule: 'no advisory lock is left', rows: locks.rows },
  ];
  return found.filter(({ rows }) => rows.length > 0);
}

/** After the pooler has ended too. Before that its backends cannot be told by name: one that has served nobody yet has none, the others that of their last client. */
export async function judgeLeaks({ admin, fleet }: Stage): Promise<Offence[]> {
  const backends = await admin.query(`select pid, application_name, state, left(query, 100) as query from ${OTHER_BACKENDS}`);
  const found: Offence[] = [
    { rule: 'no backend is left', rows: backends.rows },
    { rule: 'no process is left', rows: [...fleet.parsers.filter(isParser), ...processesWithTemporaryFolder(fleet.temporary)] },
    { rule: 'no temporary file is left', rows: filesBelow(fleet.temporary) },
  ];
  return found.filter(({ rows }) => rows.length > 0);
}

function filesBelow(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** What happened to the work, for the report. */
export async function tell(admin: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await admin.query<{ cause: string; n: number }>(`select cause, count(*)::int as n from queue_events group by cause order by cause`);
  return Object.fromEntries(rows.map(({ cause, n }) => [cause, n]));
}
