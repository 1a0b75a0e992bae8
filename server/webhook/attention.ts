/**
 * What stands, as it was last seen, and what is to be told of it. Promises: all processes together look as often as one would; looks may overlap,
 * and one that comes to be written down after a later one changes nothing; something is told when it has stood for the grace, and its end when it has been gone for as long; a beginning that nobody
 * was told of is forgotten with its trouble. A crash between any two steps: the next look finds the rows as they are and goes on.
 */
import type pg from 'pg';
import { inTransaction } from '../db/connection.js';
import { limited } from '../db/limited.js';
import { LISTENER, type Condition, type Facts } from './conditions.js';
import { messageOf, type Message, type Occurrence } from './message.js';

const STATEMENT_LIMIT_MS = 3_000;
/** After so many turns without a word nobody speaks of it any more. */
const PATIENCE = 3;

/** Takes the next look if the last is `everySeconds` old or older. @returns its number, which fences it; null: another process has looked. */
export async function takeLook(pool: pg.Pool, everySeconds: number): Promise<string | null> {
  const { rows } = await pool.query<{ look: string }>(limited(
    `update webhook set look = look + 1, looked_at = now() where looked_at is null or looked_at <= now() - make_interval(secs => $1) returning look`, [everySeconds]));
  return rows[0]?.look ?? null;
}

/** What was seen, apart from any look: of the process's own listener, which no other process can see. One statement. */
export async function see(db: pg.Pool | pg.PoolClient, conditions: readonly Condition[], { graceSeconds, everySeconds }: Pace): Promise<void> {
  if (conditions.length === 0) return;
  // What was seen, then not looked at for long (every web process was down), and is seen again has not stood meanwhile: it begins anew.
  await db.query(limited(
    `insert into webhook_attention as a (key, facts) select key, facts from jsonb_to_recordset($1::jsonb) as s(key text, facts jsonb)
     on conflict (key) do update set seen_at = now(), facts = excluded.facts,
       began_at = case when a.message_id is null and a.seen_at < now() - make_interval(secs => $2) then now() else a.began_at end`,
    [JSON.stringify(conditions), graceSeconds + PATIENCE * everySeconds]));
}

export interface Look {
  look: string;
  conditions: readonly Condition[];
  /** Begins of keys of which the list shows a sample that is full: what is missing from it may still stand. */
  sampled: readonly string[];
}

export interface Pace {
  graceSeconds: number;
  /** Between two looks, and between two words of a process whose listener is down. */
  everySeconds: number;
  origin: string;
}

/** Records a look and queues what is to be told. @returns the messages queued; none when a later look has been recorded. */
export function record(pool: pg.Pool, { look, conditions, sampled }: Look, pace: Pace): Promise<Message[]> {
  return inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query('update webhook set recorded = $1 where recorded < $1', [look]);
    if (rowCount === 0) return [];
    await see(tx, conditions, pace);
    await tx.query(`update webhook_attention set seen_at = now() where message_id is not null and split_part(key, ':', 1) = any($1)`, [sampled]);
    await tx.query(
      `delete from webhook_attention where message_id is null and seen_at < case key when $1 then now() - make_interval(secs => $2) else now() end`,
      [LISTENER, PATIENCE * pace.everySeconds]);
    return [...await tellBegun(tx, pace), ...await tellEnded(tx, pace)];
  }, { timeoutMs: STATEMENT_LIMIT_MS });
}

interface Standing extends Omit<Occurrence, 'facts'> {
  key: string;
  facts: Facts;
  messageId: string | null;
}

const standing = `select key, id, facts, message_id as "messageId", extract(epoch from began_at)::float8 * 1000 as "beganAt",
  extract(epoch from now())::float8 * 1000 as at, extract(epoch from seen_at)::float8 * 1000 as "endedAt" from webhook_attention`;

async function tellBegun(tx: pg.PoolClient, { graceSeconds, origin }: Pace): Promise<Message[]> {
  const { rows } = await tx.query<Standing>(`${standing} where message_id is null and began_at <= now() - make_interval(secs => $1) order by key`, [graceSeconds]);
  const told: Message[] = [];
  for (const begun of rows) {
    const message = messageOf({ ...begun, endedAt: null }, origin);
    await queue(tx, begun.key, message);
    await tx.query('update webhook_attention set message_id = $2 where key = $1', [begun.key, message.id]);
    told.push(message);
  }
  return told;
}

async function tellEnded(tx: pg.PoolClient, { graceSeconds, everySeconds, origin }: Pace): Promise<Message[]> {
  const { rows } = await tx.query<Standing>(`${standing} where message_id is not null and seen_at < now() - make_interval(secs => $1::float8 + case key when $2 then $3::float8 else 0 end) order by key`,
    [graceSeconds, LISTENER, PATIENCE * everySeconds]);
  const told: Message[] = [];
  for (const ended of rows) {
    await tx.query('delete from webhook_attention where key = $1', [ended.key]);
    if (!await mayBeKnown(tx, ended.messageId!)) continue;
    const message = messageOf(ended, origin);
    await queue(tx, ended.key, message);
    told.push(message);
  }
  return told;
}

/**
 * Withdraws the message of a beginning that is over, if it still waits. @returns whether the receiver may have it: it took it, or a try has
 * ended, or runs, without an answer. Long ago sent and pruned counts as taken.
 */
async function mayBeKnown(tx: pg.PoolClient, messageId: string): Promise<boolean> {
  await tx.query('update webhook_messages set withdrawn_at = now() where id = $1 and sent_at is null and given_up_at is null', [messageId]);
  const { rows } = await tx.query<{ known: boolean }>(`select sent_at is not null or doubted or sender_expires_at is not null as known from webhook_messages where id = $1`, [messageId]);
  return rows[0]?.known ?? true;
}

async function queue(tx: pg.PoolClient, key: string, { id, event, body }: Message): Promise<void> {
  await tx.query('insert into webhook_messages (id, attention_key, event, body) values ($1, $2, $3, $4)', [id, key, event, body]);
}
