import type { TestDatabase } from '../support/database.js';
import { record, see, takeLook, type Pace } from '../../server/webhook/attention.js';
import type { Condition } from '../../server/webhook/conditions.js';

export const pace: Pace = { graceSeconds: 60, everySeconds: 5, origin: 'https://console.example' };

export function condition(key: string): Condition {
  return { key, facts: { kind: key.split(':')[0]!, about: null, severity: 'alarm', what: `What ${key} is`, text: `What ${key} is. What to do.`, path: `/${key}` } };
}

/** Looks now, whoever looked last, and sees these keys. @returns the bodies of the messages that were queued. */
export async function look({ pool }: TestDatabase, keys: string[], more: { sampled?: string[] } = {}) {
  const number = await takeLook(pool, 0);
  const told = await record(pool, { look: number!, conditions: keys.map(condition), sampled: more.sampled ?? [] }, pace);
  return told.map(({ body }) => JSON.parse(body) as Record<string, any>);
}

export const hear = ({ pool }: TestDatabase) => see(pool, [condition('listener')], pace);

/** As if so many seconds had passed: what is written moves into the past. */
export async function pass({ pool }: TestDatabase, seconds: number): Promise<void> {
  for (const [table, columns] of Object.entries({
    webhook: ['looked_at', 'failing_since', 'retry_at', 'last_failure_at', 'last_sent_at'], webhook_attention: ['began_at', 'seen_at'],
    webhook_messages: ['created_at', 'retry_at', 'sender_expires_at', 'sent_at', 'withdrawn_at', 'given_up_at'],
  })) await pool.query(`update ${table} set ${columns.map((column) => `${column} = ${column} - make_interval(secs => $1)`).join(', ')}`, [seconds]);
}

export async function clear({ pool }: TestDatabase): Promise<void> {
  await pool.query('truncate webhook_attention, webhook_messages');
  await pool.query(`update webhook set failing_since = null, failures = 0, retry_at = null, looked_at = null, last_sent_at = null, last_failure_at = null, last_failure = null, sent_total = 0, failed_total = 0, given_up_total = 0`);
}
