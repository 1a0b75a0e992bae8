import { sql } from 'kysely';
import { takesWork } from '../lease/processes.js';
import { queues, type Capability } from '../lease/queues.js';
import { isWaiting } from '../lease/words.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { tableOf } from './row-select.js';

/** By queue table: the kinds that some process that takes work now knows, with the highest schema version of each. */
type KnownKinds = Record<string, Record<string, number>>;

/** Rows that no live process can take, because none knows their kind or schema version. They stay queued, uncharged. */
interface NewerWait {
  table: string;
  slug: string;
  noun: string;
  capability: Capability;
  kind: string;
  schemaVersion: number;
  /** How many of the first HEAD rows in line; HEAD + 1 says "more". */
  rows: number;
  oldestSince: number;
}

export interface Gaps {
  knownKinds: KnownKinds;
  newerWaits: NewerWait[];
}

/**
 * Rows looked at, from the front of a queue: what nobody takes ends up there, since all that is older has been taken. A queue without such
 * rows costs a walk of this many entries of the index of claimable rows, whatever waits behind them.
 */
const HEAD = 1_000;

/** What live processes know, and what waits for a newer one. */
export async function readGaps(reader: Reader): Promise<Gaps> {
  const knownKinds = await readKnownKinds(reader);
  const branches = queues.map((queue) => sql`
    (select ${queue.table}::text as "table", kind, schema_version as "schemaVersion", count(*)::int as rows, ${ms('min(run_after)')} as "oldestSince"
       from (select kind, schema_version, run_after from ${tableOf(queue)}
              where ${sql.raw(isWaiting(queue))} and run_after <= now() order by run_after, id limit ${sql.lit(HEAD + 1)}) head
      where not exists (select 1 from jsonb_each_text(${JSON.stringify(knownKinds[queue.table] ?? {})}::jsonb) k where k.key = head.kind and k.value::int >= head.schema_version)
      group by kind, schema_version)`);
  const { rows } = await sql<Omit<NewerWait, 'slug' | 'noun' | 'capability'>>`${sql.join(branches, sql` union all `)}`.execute(reader);
  return { knownKinds, newerWaits: rows.map((row) => ({ ...row, ...wordsOf(row.table) })) };
}

async function readKnownKinds(reader: Reader): Promise<KnownKinds> {
  const { rows } = await sql<{ known: KnownKinds }>`
    select coalesce(json_object_agg(queue, kinds), '{}') as known from (
      select queue, json_object_agg(kind, version) as kinds from (
        select q.key as queue, k.key as kind, max(k.value::int) as version
          from workers w, jsonb_each(w.kinds) q, jsonb_each_text(q.value) k where ${sql.raw(takesWork('w'))} group by 1, 2) one
       group by queue) each`.execute(reader);
  return rows[0]!.known;
}

function wordsOf(table: string) {
  const { slug, noun, capability } = queues.find((queue) => queue.table === table)!;
  return { slug, noun, capability };
}
