import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import type { ProcessRole } from '../lease/processes.js';
import { heldByWorker } from './now-fleet.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** One process. Instants in milliseconds since 1970 on the database clock. */
export interface WorkerView {
  id: string;
  label: string;
  role: ProcessRole;
  version: string;
  host: string;
  pid: number;
  capabilities: string[];
  /** By queue table: the kinds it knows, with the highest schema version of each. */
  kinds: Record<string, Record<string, number>>;
  slots: number;
  leases: number;
  heartbeatSeconds: number;
  startedAt: number;
  heartbeatAt: number;
  drainingSince: number | null;
  drainedBy: 'shutdown' | 'operator' | null;
  killDeadlineAt: number | null;
  stoppedAt: number | null;
  goneAt: number | null;
}

export interface RedeployView {
  role: string;
  fromVersion: string;
  toVersion: string;
  startedAt: number;
  endedAt: number | null;
}

export interface WorkersView extends Stamp {
  show: 'recent' | 'all';
  workers: WorkerView[];
  redeploys: RedeployView[];
  /** Cursor of the next page (`all` only). */
  next: string | null;
}

/** Live processes and those that ended within the last hour; or every process ever, newest first, in pages. */
export interface WorkersFilter {
  show: 'recent' | 'all';
  /** Keyset: processes started before this one (its id). */
  before: string | null;
}

/** From a URL's query; anything else reads as the recent view. */
export function parseWorkersFilter(query: URLSearchParams): WorkersFilter {
  if (query.get('show') !== 'all') return { show: 'recent', before: null };
  return { show: 'all', before: cleanText(query.get('before') ?? '').slice(0, 200) || null };
}

const PAGE = 50;
/** The recent view is a picture of a redeploy, not an archive. */
const RECENT_CAP = 200;

/** @throws ReadTimeoutError */
export function readWorkers(kysely: Kysely<DB>, filter: WorkersFilter = { show: 'recent', before: null }): Promise<WorkersView> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const found = await select(reader, filter);
    const more = filter.show === 'all' && found.length > PAGE;
    const workers = more ? found.slice(0, PAGE) : found;
    return { ...stamp, show: filter.show, workers, redeploys: await readRedeploys(reader), next: more ? workers.at(-1)!.id : null };
  });
}

/** Of process `w` and the leases `h` that it holds. */
export function workerColumns() {
  return sql`w.id, w.label, w.role, w.version, w.host, w.pid, w.capabilities, w.kinds, w.slots, coalesce(h.leases, 0) as leases,
    w.heartbeat_seconds::float8 as "heartbeatSeconds", ${ms('w.started_at')} as "startedAt", ${ms('w.heartbeat_at')} as "heartbeatAt",
    ${ms('w.draining_since')} as "drainingSince", w.drained_by as "drainedBy", ${ms('w.kill_deadline_at')} as "killDeadlineAt",
    ${ms('w.stopped_at')} as "stoppedAt", ${ms('w.gone_at')} as "goneAt"`;
}

async function select(reader: Reader, filter: WorkersFilter): Promise<WorkerView[]> {
  const { rows } = await sql<WorkerView>`
    select ${workerColumns()} from workers w left join (${heldByWorker()}) h on h.worker_id = w.id
    where ${condition(filter)}
    order by w.started_at desc, w.id desc limit ${sql.lit(filter.show === 'all' ? PAGE + 1 : RECENT_CAP)}`.execute(reader);
  return rows;
}

/** The cursor compares whole rows in SQL: a timestamp that went through JavaScript would have lost its microseconds. */
function condition({ show, before }: WorkersFilter) {
  if (show === 'all') {
    return before ? sql`(w.started_at, w.id) < (select b.started_at, b.id from workers b where b.id = ${before})` : sql`true`;
  }
  return sql`(w.stopped_at is null and w.gone_at is null) or w.stopped_at > now() - interval '1 hour' or w.gone_at > now() - interval '1 hour'`;
}

async function readRedeploys(reader: Reader): Promise<RedeployView[]> {
  const { rows } = await sql<RedeployView>`
    select role, from_version as "fromVersion", to_version as "toVersion", ${ms('started_at')} as "startedAt", ${ms('ended_at')} as "endedAt"
    from redeploys where started_at > now() - interval '1 hour' order by started_at desc limit 50`.execute(reader);
  return rows;
}
