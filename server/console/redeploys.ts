import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import type { RedeployHead, RolloutProcess } from './redeploy-fleet.js';
import { readRollout } from './redeploy-fleet.js';
import type { Tally } from './redeploy-leases.js';
import { readTally } from './redeploy-leases.js';
import { isUuid } from './queue-filters.js';
import type { Stamp } from './row-view.js';

/** A line of the list. */
export interface RedeployLine extends RedeployHead {
  tally: Tally;
  outgoing: number;
  incoming: number;
  killed: number;
}

export interface RedeploysPage extends Stamp {
  redeploys: RedeployLine[];
  /** Cursors for the URL; null where there is nothing more. */
  next: string | null;
  previous: string | null;
  /** There has never been one. */
  empty: boolean;
}

/** All of it lives in the URL. */
export interface RedeployFilters {
  role: 'web' | 'worker' | null;
  state: 'rolling' | 'ended' | null;
  /** Either side. */
  version: string | null;
  /** Keyset: redeploys older than this one (its id), or newer. */
  before: string | null;
  after: string | null;
}

/** From a URL's query. Anything it does not understand is left out, so every URL gives a page. */
export function parseRedeployFilters(query: URLSearchParams): RedeployFilters {
  const one = <T extends string>(name: string, known: readonly T[]) => known.find((value) => value === query.get(name)) ?? null;
  const cursor = (name: string) => (isUuid(query.get(name) ?? '') ? query.get(name) : null);
  const before = cursor('before');
  return {
    role: one('role', ['web', 'worker']), state: one('state', ['rolling', 'ended']), version: cleanText(query.get('version') ?? '').trim().slice(0, 100) || null,
    before, after: before ? null : cursor('after'),
  };
}

/** Each line is counted from the log: a page is as long as that is quick. */
const PAGE = 20;

/** Newest first. Own read-only transaction. @throws ReadTimeoutError */
export function readRedeploys(kysely: Kysely<DB>, filters: RedeployFilters): Promise<RedeploysPage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const backwards = filters.after !== null;
    const found = await readIds(reader, filters);
    const more = found.length > PAGE;
    const ids = found.slice(0, PAGE);
    if (backwards) ids.reverse();
    const redeploys: RedeployLine[] = [];
    for (const id of ids) redeploys.push(await readLine(reader, id));
    const [first, last] = [ids[0] ?? null, ids.at(-1) ?? null];
    return { ...stamp, redeploys, next: backwards || more ? last : null, previous: backwards ? (more ? first : null) : filters.before && first, empty: ids.length === 0 && await isEmpty(reader) };
  });
}

/** The cursor compares whole rows in SQL: a timestamp that went through JavaScript would have lost its microseconds. */
async function readIds(reader: Reader, { role, state, version, before, after }: RedeployFilters): Promise<string[]> {
  const conditions = [
    role === null ? null : sql`r.role = ${role}`,
    state === null ? null : state === 'rolling' ? sql`r.ended_at is null` : sql`r.ended_at is not null`,
    version === null ? null : sql`${version} in (r.from_version, r.to_version)`,
    before === null ? null : sql`(r.started_at, r.id) < (select c.started_at, c.id from redeploys c where c.id = ${before}::uuid)`,
    after === null ? null : sql`(r.started_at, r.id) > (select c.started_at, c.id from redeploys c where c.id = ${after}::uuid)`,
  ].filter((condition) => condition !== null);
  const order = sql.raw(after === null ? 'desc' : 'asc');
  const { rows } = await sql<{ id: string }>`select r.id from redeploys r where ${conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)}
    order by r.started_at ${order}, r.id ${order} limit ${sql.lit(PAGE + 1)}`.execute(reader);
  return rows.map((row) => row.id);
}

async function readLine(reader: Reader, id: string): Promise<RedeployLine> {
  const rollout = (await readRollout(reader, id))!; // the same snapshot has just named it
  const count = (wanted: (process: RolloutProcess) => boolean) => rollout.processes.filter(wanted).length;
  return {
    ...rollout.redeploy, tally: await readTally(reader, rollout), outgoing: count(({ side }) => side === 'outgoing'), incoming: count(({ side }) => side === 'incoming'),
    killed: count(({ side, leaving }) => side === 'outgoing' && leaving === 'killed'),
  };
}

async function isEmpty(reader: Reader): Promise<boolean> {
  const { rows } = await sql`select 1 from redeploys limit 1`.execute(reader);
  return rows.length === 0;
}
