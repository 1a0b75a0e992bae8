/** What the log says of each unit that a redeploy met: computed from queue_events alone, the only history there is. */
import type pg from 'pg';
import type { PhaseOutcome } from './redeploy-script.js';

export interface UnitRow {
  phase: string;
  unit: string;
  units: number;
  /** Held by an outgoing worker at the switch. */
  inFlight: number;
  /** Of those: ended under the same lease. */
  finished: number;
  givenBack: number;
  givenBackTakenUp: string;
  expired: number;
  expiredTakenUp: string;
  lateWrites: number;
  /** Leases of the unit that had most. */
  mostRuns: number;
  lost: number;
  right: boolean;
}

interface Unit {
  id: string;
  /** The cause of the event that ended the lease in flight; null: a second lease was taken on top of it (a publish whose worker died). */
  was_in_flight: boolean;
  how: string | null;
  taken_up_ms: number | null;
  runs: number;
  ends: number;
  late: number;
  lost: boolean;
}

/**
 * $1 rows, $2 table, $3 the switch, $4 outgoing workers, $5 terminal states. A lease that only waited for its uploads is no run; a claim whose source is
 * missing ends as it comes into being, without any.
 */
const UNITS = `
  with units as (select unnest($1::uuid[]) as id),
  mine as (select e.* from queue_events e join units u on u.id = e.row_id and e.queue = $2),
  flight as (
    select distinct on (a.row_id) a.row_id, a.lease_token, a.id as acquired from mine a
     where a.cause = 'acquire' and a.at <= $3::timestamptz and a.worker_id = any ($4)
       and not exists (select 1 from mine x where x.row_id = a.row_id and x.id > a.id and x.at <= $3::timestamptz and (x.cause = 'acquire' or (x.from_state is not null and x.lease_token = a.lease_token)))
     order by a.row_id, a.id desc),
  ended as (
    select distinct on (f.row_id) f.row_id, x.cause, x.at, x.id from flight f join mine x on x.row_id = f.row_id and x.id > f.acquired
       and x.cause <> 'late_write' and x.cause <> 'cancel_requested' order by f.row_id, x.id)
  select u.id, f.row_id is not null as was_in_flight, case when d.cause <> 'acquire' then d.cause end as how,
         (select extract(epoch from n.at - case when d.cause in ('drain', 'release') then d.at else $3::timestamptz end)::float8 * 1000 from mine n
           where n.row_id = u.id and n.cause = 'acquire' and n.id >= d.id order by n.id limit 1) as taken_up_ms,
         (select count(*)::int from mine r where r.row_id = u.id and r.cause = 'acquire') - (select count(*)::int from mine w where w.row_id = u.id and w.cause = 'wait') as runs,
         (select count(*)::int from mine t where t.row_id = u.id and t.to_state = any ($5) and t.from_state is distinct from t.to_state) as ends,
         (select count(*)::int from mine l where l.row_id = u.id and l.cause = 'late_write') as late,
         not exists (select 1 from mine t where t.row_id = u.id and t.to_state = any ($5))
           or exists (select 1 from mine t where t.row_id = u.id and t.error_code in ('worker_lost', 'blob_expired', 'internal', 'parser_crashed') and t.to_state = 'failed') as lost
    from units u left join flight f on f.row_id = u.id left join ended d on d.row_id = u.id`;

export async function judgePhase(pool: pg.Pool, outcome: PhaseOutcome): Promise<UnitRow[]> {
  const ids = async (sql: string, value: unknown) => (await pool.query<{ id: string }>(sql, [value])).rows.map(({ id }) => id);
  const kinds: [string, string, string[]][] = [
    ['files', 'parse_items', await ids('select id from parse_items where job_id = any ($1::uuid[])', outcome.jobIds)],
    ['uploads', 'parse_jobs', outcome.jobIds],
    ['claims', 'job_citations', await ids(`select id from job_citations where job_id = $1`, outcome.analysisId)],
    ['analysis', 'analysis_jobs', [outcome.analysisId]],
    ['publish', 'deployments', [outcome.deploymentId]],
  ];
  return Promise.all(kinds.map(async ([unit, table, rows]) => {
    const found = await pool.query<Unit>(UNITS, [rows, table, outcome.switchedAt, outcome.outgoing, ['succeeded', 'failed', 'cancelled', 'live']]);
    return rowOf(outcome.phase, unit, found.rows);
  }));
}

const FINISHED = ['succeed', 'fail', 'retry', 'await', 'wait', 'outage', 'children'];

function rowOf(phase: string, unit: string, units: readonly Unit[]): UnitRow {
  const inFlight = units.filter((one) => one.was_in_flight);
  const finished = inFlight.filter(({ how }) => how !== null && FINISHED.includes(how));
  const givenBack = inFlight.filter(({ how }) => how === 'drain');
  const expired = inFlight.filter((one) => !finished.includes(one) && !givenBack.includes(one));
  const allowed = (one: Unit) => 1 + Number(one.was_in_flight && !finished.includes(one));
  const lost = units.filter((one) => one.lost).length;
  return {
    phase, unit, units: units.length, inFlight: inFlight.length, finished: finished.length,
    givenBack: givenBack.length, givenBackTakenUp: longest(givenBack), expired: expired.length, expiredTakenUp: longest(expired),
    lateWrites: units.reduce((sum, one) => sum + one.late, 0), mostRuns: Math.max(0, ...units.map(({ runs }) => runs)), lost,
    right: lost === 0 && units.length > 0 && units.every((one) => one.ends === 1 && one.runs <= allowed(one)),
  };
}

function longest(units: readonly Unit[]): string {
  const times = units.flatMap(({ taken_up_ms: ms }) => (ms === null ? [] : [ms]));
  return times.length === 0 ? '–' : `${(Math.max(...times) / 1000).toFixed(1)} s`;
}
