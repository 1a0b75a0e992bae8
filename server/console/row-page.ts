import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { knows, takesWork } from '../lease/processes.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { QueueWords } from './queue-page.js';
import { wordsOf } from './queue-page.js';
import { selectRowActions, type AuditEntry } from './audit.js';
import type { LinkedRows } from './row-links.js';
import { readLinks } from './row-links.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import { selectRows } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';

/** One transition, as the statement that made it recorded it. */
export interface EventView {
  id: string;
  at: number;
  fromState: string | null;
  toState: string | null;
  cause: string;
  worker: string | null;
  version: string | null;
  leaseToken: string | null;
  waitedMs: number | null;
  ranMs: number | null;
  errorCode: string | null;
}

export interface RowPage extends Stamp {
  queue: QueueWords;
  row: RowView;
  /** Newest first; `moreEvents` says that older ones were left out. */
  events: EventView[];
  moreEvents: boolean;
  /** What people did to it or tried to, newest first. */
  actions: AuditEntry[];
  links: LinkedRows;
  /** What decides when something happens next. */
  sweep: { lastRunAt: number | null; intervalSeconds: number };
  capability: string;
  capableWorkers: number;
  /** Those of them that know the row's kind and schema version: none, and it waits for a newer worker. */
  knowingWorkers: number;
  pausedReason: string | null;
  breakerUntil: number | null;
}

const EVENTS = 200;
const ACTIONS = 100;

/** A row with its history and neighbours, or null if there is no such row. Own read-only transaction. @throws ReadTimeoutError */
export function readRowPage(kysely: Kysely<DB>, queue: QueueDefinition, id: string): Promise<RowPage | null> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const [row] = await selectRows(reader, queue, [id]);
    if (!row) return null;
    const events = await readEvents(reader, id);
    const outlook = await readOutlook(reader, queue, row);
    return {
      ...stamp, queue: wordsOf(queue), row, events: events.slice(0, EVENTS), moreEvents: events.length > EVENTS,
      actions: await selectRowActions(reader, id, ACTIONS),
      links: await readLinks(reader, queue, row), capability: queue.capability, ...outlook,
    };
  });
}

async function readEvents(reader: Reader, id: string): Promise<EventView[]> {
  const { rows } = await sql<EventView>`
    select e.id::text as id, ${ms('e.at')} as at, e.from_state as "fromState", e.to_state as "toState", e.cause,
      coalesce(w.label, e.worker_id) as worker, e.worker_version as version, e.lease_token::text as "leaseToken",
      e.waited_ms as "waitedMs", e.ran_ms as "ranMs", e.error_code as "errorCode"
    from queue_events e left join workers w on w.id = e.worker_id
    where e.row_id = ${id}::uuid order by e.id desc limit ${sql.lit(EVENTS + 1)}`.execute(reader);
  return rows;
}

type Outlook = Pick<RowPage, 'sweep' | 'capableWorkers' | 'knowingWorkers' | 'pausedReason' | 'breakerUntil'>;

async function readOutlook(reader: Reader, queue: QueueDefinition, row: RowView): Promise<Outlook> {
  const { rows } = await sql<Outlook>`select
    (select json_build_object('lastRunAt', ${ms('last_run_at')}, 'intervalSeconds', interval_seconds::float8) from sweeps) as sweep,
    (select count(*)::int from workers w where ${sql.raw(takesWork('w'))} and ${queue.capability} = any(w.capabilities)) as "capableWorkers",
    (select count(*)::int from workers w, (select ${row.kind}::text as kind, ${row.schemaVersion}::int as schema_version) t
      where ${sql.raw(takesWork('w'))} and ${sql.raw(knows(queue, 'w', 't'))}) as "knowingWorkers",
    (select reason from queue_pauses where queue = ${queue.table}) as "pausedReason",
    (select ${ms('retry_at')} from breakers where queue = ${queue.table}) as "breakerUntil"`.execute(reader);
  return rows[0]!;
}
