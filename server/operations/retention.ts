/**
 * Prunes what is kept by day: the log of transitions (with it the timelines of rows that are older), the minute samples, and as long as the
 * transitions the webhook's messages that wait no longer. Rows, reports,
 * documents and the audit are not touched: a user's go with the user (erase_user), the others stay.
 *
 * One call prunes one batch in one transaction of some seconds; whoever has more to prune calls again.
 */
import type pg from 'pg';
import { z } from 'zod';
import { defineAction } from './action.js';

/** Rows of the log in one transaction: about a second. */
export const RETENTION_BATCH = 50_000;

export const pruneHistory = defineAction({
  name: 'retention',
  permission: 'admin',
  fields: z.object({ batch: z.number().int().min(1).max(RETENTION_BATCH).default(RETENTION_BATCH) }),
  target: () => ({ kind: 'system', id: 'history' }),
  guard: 'Only what is older than its setting, on the database clock.',
  consequence: 'Timelines of that time are gone for good; rows, reports, documents and the audit stay.',
  did: ({ after }) => `Pruned ${String(after.events)} transitions older than ${String(after.eventDays)} days and ${String(after.minutes)} minute samples older than ${String(after.minuteDays)} days${Number(after.messages) > 0 ? `, and ${String(after.messages)} webhook messages older than ${String(after.eventDays)} days` : ''}.`,
  refusals: { nothing_old: ({ eventDays, minuteDays }) => `No transition is older than ${String(eventDays)} days, no webhook message either, and no minute sample older than ${String(minuteDays)} days. Nothing was changed.` },
  async act(tx, { batch }, { config }) {
    const kept = { eventDays: config.retentionEventDays, minuteDays: config.retentionMinuteDays };
    const pruned = { events: await pruneEvents(tx, kept.eventDays, batch), minutes: await pruneMinutes(tx, kept.minuteDays, batch), messages: await pruneMessages(tx, kept.eventDays, batch) };
    if (pruned.events + pruned.minutes + pruned.messages === 0) return { outcome: 'refused', code: 'nothing_old', now: kept };
    return { outcome: 'applied', before: kept, after: { ...kept, ...pruned }, changed: [], kicks: [] };
  },
});

/** By the index of blocks by time; the place of a row holds for as long as the statement, since an event is never updated. */
async function pruneEvents(tx: pg.PoolClient, days: number, batch: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from queue_events where ctid = any (array(select ctid from queue_events where at < now() - make_interval(days => $1) limit $2))`, [days, batch]);
  return rowCount ?? 0;
}

async function pruneMinutes(tx: pg.PoolClient, days: number, batch: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from queue_minutes m using (select queue, minute from queue_minutes where minute < now() - make_interval(days => $1) limit $2) old where m.queue = old.queue and m.minute = old.minute`, [days, batch]);
  return rowCount ?? 0;
}

/** Never one that may still be sent. */
async function pruneMessages(tx: pg.PoolClient, days: number, batch: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from webhook_messages where id = any (array(select id from webhook_messages
       where num_nonnulls(sent_at, withdrawn_at, given_up_at) = 1 and created_at < now() - make_interval(days => $1) limit $2))`, [days, batch]);
  return rowCount ?? 0;
}
