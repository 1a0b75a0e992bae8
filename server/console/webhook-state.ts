import { sql } from 'kysely';
import type { Reader } from './read.js';
import { ms } from './read.js';

/** How the webhook does. Instants in milliseconds since 1970, on the database clock. Of its address the host alone: the rest may be a secret. */
export interface WebhookState {
  host: string;
  /** Since when no message was taken; null while all is well. */
  failingSince: number | null;
  lastFailureAt: number | null;
  /** What it did then: "answered 503". */
  trouble: string | null;
  lastSentAt: number | null;
  waiting: number;
}

export interface WebhookFailing {
  host: string;
  since: number;
  trouble: string;
  waiting: number;
}

/** One failed try is not worth a person's look; so long (ms) without a message taken is. */
const SHOWN_AFTER_MS = 60_000;

/** @param url WEBHOOK_URL. */
export async function readWebhookState(reader: Reader, url: string): Promise<WebhookState> {
  const { rows } = await sql<Omit<WebhookState, 'host'>>`select ${ms('failing_since')} as "failingSince", ${ms('last_failure_at')} as "lastFailureAt",
      last_failure as trouble, ${ms('last_sent_at')} as "lastSentAt",
      (select count(*)::int from webhook_messages where sent_at is null and withdrawn_at is null and given_up_at is null) as waiting
    from webhook`.execute(reader);
  return { host: new URL(url).host, ...rows[0]! };
}

/** For Now: only what has lasted, and only while something waits (whether an idle receiver is well again is not known). */
export async function readWebhookFailing(reader: Reader, asOf: number, url: string | undefined): Promise<WebhookFailing | null> {
  if (!url) return null;
  const { host, failingSince: since, trouble, waiting } = await readWebhookState(reader, url);
  return since === null || asOf - since < SHOWN_AFTER_MS || waiting === 0 ? null : { host, since, trouble: trouble ?? 'failed', waiting };
}
