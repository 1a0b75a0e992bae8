import { sql } from 'kysely';

/** Leased rows that do one stage of a journey together, as counts. Instants in milliseconds since 1970 on the database clock, durations in milliseconds. */
export interface Group {
  total: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  /** Held, the lease valid. */
  running: number;
  /** Held, the lease run out. */
  stale: number;
  /** Waits for a worker, those included that wait for their next try. */
  queued: number;
  /** Waits for its next try after a failure or an outage. */
  retrying: number;
  nextTryAt: number | null;
  startedAt: number | null;
  lastEndAt: number | null;
  /** The earliest end of a lease that is held. */
  leaseEndsAt: number | null;
  /** The latest beat of whoever holds one. */
  lastBeatAt: number | null;
  /** Since anything of it was taken, progressed or ended; null while nobody holds any with a valid lease. */
  idleMs: number | null;
  /** Time in which any of it was there and had not ended, and the part of that in which somebody was at it whose work was kept. */
  presentMs: number;
  workedMs: number;
  /** Tries that failed and were made again. */
  retries: number;
  lostLeases: number;
  /** Put back uncharged: by a drain, an operator's release, an outage. A lease has one end, so what no counter was charged for was put back. */
  putBack: number;
}

const LIVE = `r.state = 'running' and r.lease_expires_at >= now()`;
const STALE = `r.state = 'running' and r.lease_expires_at < now()`;
const RETRYING = `r.state = 'queued' and r.run_after > now() and r.error_code is not null`;
/** The lease that ended well, or is held: of a cancelled row nobody knows, so its last one is not counted as put back. */
const OWN_LEASE = `(r.state in ('running', 'succeeded', 'awaiting', 'cancelled'))::int`;

/** The columns of a Group, over rows with the alias `r`. `workEnd`: SQL of the instant at which a row's work ended, null while it goes on. */
export function groupColumns(workEnd = 'r.finished_at') {
  const counted = (condition: string) => `(count(*) filter (where ${condition}))::int`;
  const worked = `range_agg(tstzrange(least(r.claimed_at, coalesce(${workEnd}, now())), coalesce(${workEnd}, now())))
    filter (where r.claimed_at is not null and (r.state in ('running', 'succeeded', 'failed') or ${workEnd} is not null))`;
  const length = (spans: string) => `(select coalesce(sum(extract(epoch from upper(span) - lower(span))) * 1000, 0)::float8 from unnest(${spans}) as span)`;
  return sql.raw(`count(*)::int as total, ${counted(`r.state = 'succeeded'`)} as succeeded, ${counted(`r.state = 'failed'`)} as failed,
    ${counted(`r.state = 'cancelled'`)} as cancelled, ${counted(LIVE)} as running, ${counted(STALE)} as stale, ${counted(`r.state = 'queued'`)} as queued,
    ${counted(RETRYING)} as retrying, ${at(`min(r.run_after) filter (where ${RETRYING})`)} as "nextTryAt",
    ${at('min(r.claimed_at)')} as "startedAt", ${at('max(r.finished_at)')} as "lastEndAt",
    ${at('min(r.lease_expires_at)')} as "leaseEndsAt", ${at('max(r.heartbeat_at)')} as "lastBeatAt",
    case when ${counted(LIVE)} > 0 then (extract(epoch from now() - greatest(max(r.finished_at),
      max(greatest(r.claimed_at, r.progressed_at)) filter (where ${LIVE}))) * 1000)::float8 end as "idleMs",
    ${length(`range_agg(tstzrange(r.created_at, greatest(r.created_at, coalesce(${workEnd}, now()))))`)} as "presentMs", ${length(worked)} as "workedMs",
    coalesce(sum(greatest(0, r.attempt - (r.state = 'failed' and r.error_code is distinct from 'worker_lost')::int)), 0)::int as retries,
    coalesce(sum(r.lost_leases), 0)::int as "lostLeases",
    coalesce(sum(greatest(0, r.lease_token - r.lost_leases - r.attempt - ${OWN_LEASE})), 0)::int as "putBack"`);
}

/** ms() as text, to be put into a longer raw fragment. */
function at(expression: string): string {
  return `round(extract(epoch from ${expression}) * 1000)::float8`;
}

