import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { queues } from '../lease/queues.js';
import { percentilesOf } from './percentiles.js';
import { queuesInOrder } from './queue-of-url.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** One closed minute: rows ended, and the wait before they started (milliseconds; null when none started). */
export interface MinutePoint {
  at: number;
  ended: number;
  waitP50: number | null;
  waitP95: number | null;
}

export interface SeriesView extends Stamp {
  queues: { slug: string; title: string; points: MinutePoint[] }[];
  redeploys: { at: number; toVersion: string; role: string }[];
  /** What operators did (refused attempts change nothing). */
  actions: { at: number; action: string; by: string }[];
}

const MINUTES = 60;
const MINUTE_MS = 60_000;

/** The last hour, minute by minute, with the redeploys that began in it and what operators did. Own read-only transaction. @throws ReadTimeoutError */
export function readSeries(kysely: Kysely<DB>): Promise<SeriesView> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const minutes = await readMinutes(reader);
    const { rows: redeploys } = await sql<SeriesView['redeploys'][number]>`
      select ${ms('started_at')} as at, to_version as "toVersion", role from redeploys
      where started_at > now() - make_interval(mins => ${MINUTES}) order by started_at limit 50`.execute(reader);
    const { rows: actions } = await sql<SeriesView['actions'][number]>`
      select ${ms('at')} as at, action, actor_name as by from operator_actions
      where at > now() - make_interval(mins => ${MINUTES}) and outcome = 'applied' order by at desc limit 50`.execute(reader);
    const lanes = queuesInOrder().map(({ slug, title, table }) => ({ slug, title, points: pointsOf(table, minutes, stamp.asOf) }));
    return { ...stamp, queues: lanes, redeploys, actions };
  });
}

interface Minute {
  queue: string;
  at: number;
  ended: number;
  waits: number[];
}

async function readMinutes(reader: Reader): Promise<Minute[]> {
  const { rows } = await sql<Minute>`
    select queue, ${ms('minute')} as at, succeeded + failed + cancelled as ended, waits from queue_minutes
    where queue = any(${queues.map((queue) => queue.table)}::text[])
      and minute >= date_trunc('minute', now()) - make_interval(mins => ${MINUTES})`.execute(reader);
  return rows;
}

/** A minute without a sample is a minute in which nothing happened: zero, not a gap. The current minute is still open and left out. */
function pointsOf(table: string, minutes: Minute[], asOf: number): MinutePoint[] {
  const current = Math.floor(asOf / MINUTE_MS) * MINUTE_MS;
  const byInstant = new Map(minutes.filter((minute) => minute.queue === table).map((minute) => [minute.at, minute]));
  return Array.from({ length: MINUTES }, (_, index) => {
    const at = current - (MINUTES - index) * MINUTE_MS;
    const minute = byInstant.get(at);
    const wait = percentilesOf(minute ? [minute.waits] : []);
    return { at, ended: minute?.ended ?? 0, waitP50: wait.p50, waitP95: wait.p95 };
  });
}
