/**
 * The messages that wait, and who sends which. Promises: at least once; one sender at a time (a conditional statement hands out a token that
 * expires, and no transaction is held while the receiver is asked); of one trouble, in order. A sender that dies is followed by another when
 * its time is over; one that wakes up later writes nothing. Each statement ends within its limit even if the database is out of reach, and may
 * then have taken effect or not: a message taken so is in doubt, one sent is sent again. Locks: the webhook's row, then its messages.
 */
import type pg from 'pg';
import { limited } from '../db/limited.js';

export interface Outgoing {
  id: string;
  event: string;
  body: string;
  /** Which sending of it this is; fences off earlier ones. */
  token: string;
  /** How often in a row the receiver has failed so far. */
  failures: number;
}

const open = 'sent_at is null and withdrawn_at is null and given_up_at is null';

/**
 * Takes the oldest message that may be sent now, for `seconds`. Nothing while the receiver rests. Tried before by a sender that never said
 * how it ended: in doubt from now on.
 */
export async function takeMessage(pool: pg.Pool, seconds: number): Promise<Outgoing | null> {
  const { rows } = await pool.query<Outgoing>(limited(
    `with next as materialized (
       select id from webhook_messages m
        where ${open} and retry_at <= now() and (sender_expires_at is null or sender_expires_at <= now())
          and not exists (select 1 from webhook where retry_at > now())
          and not exists (select 1 from webhook_messages e where e.attention_key = m.attention_key and e.no < m.no
                            and (e.sender_expires_at > now() or e.sent_at is null and e.withdrawn_at is null and e.given_up_at is null))
        order by no limit 1 for update skip locked)
     update webhook_messages m set tries = tries + 1, sender_token = sender_token + 1, doubted = doubted or sender_expires_at is not null,
       sender_expires_at = now() + make_interval(secs => $1)
      from next where m.id = next.id and ${open} and (m.sender_expires_at is null or m.sender_expires_at <= now())
     returning m.id, m.event, m.body, m.sender_token as token, (select failures from webhook) as failures`, [seconds]));
  return rows[0] ?? null;
}

/** It was taken; the receiver is well. @returns false when the message was no longer ours: it may be sent again, with the same id. */
export function settleSent(pool: pg.Pool, message: Outgoing): Promise<boolean> {
  return settle(pool, message, `sent_at = case when withdrawn_at is null then now() end`, `last_sent_at = now(), failing_since = null, failures = 0, retry_at = null, sent_total = sent_total + 1`);
}

const failing = `failing_since = coalesce(failing_since, now()), failures = failures + 1, failed_total = failed_total + 1, last_failure_at = now()`;

/** The receiver is away: every message rests for `restMs`. `doubtful`: it may have taken this one. */
export function settleAway(pool: pg.Pool, message: Outgoing, away: { trouble: string; restMs: number; doubtful: boolean }): Promise<boolean> {
  return settle(pool, message, 'doubted = doubted or $5', `${failing}, last_failure = $3, retry_at = now() + $4 * interval '1 millisecond'`, [away.trouble, Math.round(away.restMs), away.doubtful]);
}

/** The receiver refused this message: it alone waits, for `restMs`. */
export function settleRefused(pool: pg.Pool, message: Outgoing, refused: { trouble: string; restMs: number }): Promise<boolean> {
  return settle(pool, message, `retry_at = now() + $4 * interval '1 millisecond'`, `${failing}, last_failure = $3`, [refused.trouble, Math.round(refused.restMs)]);
}

/** This process is being stopped in mid-call: another takes the message at once. */
export async function putBack(pool: pg.Pool, { id, token }: Outgoing): Promise<void> {
  await pool.query(limited('update webhook_messages set sender_expires_at = null, doubted = true where id = $1 and sender_token = $2 and sent_at is null', [id, token]));
}

/** What the answer says of the receiver holds even when the message is no longer ours. */
async function settle(pool: pg.Pool, { id, token }: Outgoing, message: string, receiver: string, values: unknown[] = []): Promise<boolean> {
  const { rows } = await pool.query<{ mine: boolean }>(limited(
    `with settled as (update webhook_messages set sender_expires_at = null, ${message} where id = $1 and sender_token = $2 and sent_at is null and given_up_at is null returning 1)
     update webhook set ${receiver} returning exists (select 1 from settled) as mine`, [id, token, ...values]));
  return rows[0]?.mine ?? false;
}

/**
 * Gives up messages that have waited for `seconds`. A trouble whose beginning was among them is told anew if it still stands.
 * @returns how many.
 */
export async function giveUp(pool: pg.Pool, seconds: number): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(limited(
    `with receiver as materialized (select 1 from webhook for update),   -- first, as a look does: else each could wait for the other
       given_up as (update webhook_messages set given_up_at = now() from receiver where ${open} and created_at < now() - make_interval(secs => $1)
         and (sender_expires_at is null or sender_expires_at <= now()) returning id),
       untold as (update webhook_attention set message_id = null where message_id in (select id from given_up))
     update webhook set given_up_total = given_up_total + n from (select count(*)::int as n from given_up) g where n > 0 returning n`, [seconds]));
  return rows[0]?.n ?? 0;
}

/** Tries everything at once: the receiver, or its address, may have been put right. */
export async function resume(pool: pg.Pool): Promise<void> {
  await pool.query(limited(`with waiting as (update webhook_messages set retry_at = now() where ${open} and retry_at > now()) update webhook set retry_at = null`));
}

/** A message outside of the outbox (a test) was taken: the receiver is well. */
export async function noteWell(pool: pg.Pool): Promise<void> {
  await pool.query(limited('update webhook set last_sent_at = now(), failing_since = null, failures = 0, retry_at = null, sent_total = sent_total + 1'));
  await resume(pool);
}
