import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { parseItems } from '../lease/queues.js';
import { isHeld, isWaiting } from '../lease/words.js';
import { HITS_SHOWN, itemColumns, likePart, likeStart } from './find-queries.js';
import type { HitRow, NameSearch } from './find-view.js';
import type { Reader } from './read.js';

/**
 * A name that one file in 200 has is found among so many newest ones, newest first, and the index is not asked: the rarer a name, the
 * cheaper the index. Some 20 ms here.
 */
const NEWEST_WALKED = 2_000;
/** Open files are in no index of names; a backlog longer than this is searched in part. */
const OPEN_WALKED = 20_000;
/** The index answers in the order of the disk: so many are put in order. */
const SORTED = 3_000;
/** Common parts of names have long lists in the index (milliseconds): then the newest must do. */
export const NAMES_TIMEOUT_MS = 1_500;

type NameIndex = 'part' | 'start' | null;

/** Which index the migration could make on this server. */
export async function nameIndexOf(reader: Reader): Promise<NameIndex> {
  const { rows } = await sql<{ part: boolean; start: boolean }>`
    select to_regclass('parse_items_by_name') is not null as part, to_regclass('parse_items_by_name_start') is not null as start`.execute(reader);
  return rows[0]!.part ? 'part' : rows[0]!.start ? 'start' : null;
}

/** Files of the newest uploads whose name has one of the spellings in it, newest first. */
export function newestByName(spellings: readonly string[]): RawBuilder<HitRow> {
  return sql<HitRow>`select ${itemColumns()} from (select * from parse_items order by id desc limit ${sql.lit(NEWEST_WALKED)}) r
    where ${parts(spellings)} order by r.id desc limit ${sql.lit(HITS_SHOWN + 1)}`;
}

/** Open files, however old. */
export function openByName(spellings: readonly string[]): RawBuilder<HitRow> {
  const walk = (condition: string) => sql`(select * from parse_items where ${sql.raw(condition)} limit ${sql.lit(OPEN_WALKED)})`;
  return sql<HitRow>`select ${itemColumns()} from (${walk(isWaiting(parseItems))} union all ${walk(isHeld(parseItems))}) r
    where ${parts(spellings)} order by r.id desc limit ${sql.lit(HITS_SHOWN + 1)}`;
}

/**
 * Ended files by the index. The materialised step keeps the planner from walking the primary key with the name as a filter, which it
 * thinks cheap whenever it overestimates the matches.
 */
export function endedByName(spellings: readonly string[], index: 'part' | 'start'): RawBuilder<HitRow> {
  const fits = index === 'part' ? parts(spellings) : starts(spellings);
  return sql<HitRow>`
    with found as materialized (select r.* from parse_items r where ${fits} and r.finished_at is not null limit ${sql.lit(SORTED)})
    select ${itemColumns()} from found r order by r.id desc limit ${sql.lit(HITS_SHOWN + 1)}`;
}

function parts(spellings: readonly string[]) {
  return any(spellings.map((name) => sql`folded_name(r.filename) like folded_name(${likePart(name)})`));
}

function starts(spellings: readonly string[]) {
  return any(spellings.map((name) => sql`left(folded_name(r.filename), 200) like folded_name(${likeStart(name)})`));
}

function any(conditions: RawBuilder<unknown>[]) {
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** Newest first; the index is asked only for what the newest do not show. Needs a transaction of its own: it sets its limits in it. @throws ReadTimeoutError from the reader's transaction */
export async function findByName(reader: Reader, spellings: readonly string[]): Promise<{ rows: HitRow[]; names: NameSearch }> {
  await sql`select set_config('statement_timeout', ${String(NAMES_TIMEOUT_MS)}, true), set_config('enable_seqscan', 'off', true)`.execute(reader);
  const index = await nameIndexOf(reader);
  const names = index === 'part' ? 'all' : index === 'start' ? 'starts' : 'newest';
  const newest = (await newestByName(spellings).execute(reader)).rows;
  if (newest.length > HITS_SHOWN || index === null) return { rows: newest, names };
  const open = (await openByName(spellings).execute(reader)).rows;
  const ended = (await endedByName(spellings, index).execute(reader)).rows;
  return { rows: byId([...newest, ...open, ...ended]), names };
}

/** Each once, newest first. */
function byId(rows: readonly HitRow[]): HitRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}
