import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Config } from '../config.js';
import type { DB } from '../db/generated.js';
import { queues } from '../lease/queues.js';
import { ms, readOnly } from './read.js';

/** A queue and whether work is handed out from it. Instants in ms since 1970. */
export interface QueueSwitch {
  slug: string;
  title: string;
  paused: { at: number; by: string; reason: string | null } | null;
}

/** Every queue of the registry. Own read-only transaction. @throws ReadTimeoutError */
export function readSwitches(kysely: Kysely<DB>): Promise<QueueSwitch[]> {
  return readOnly(kysely, async (reader) => {
    const { rows } = await sql<{ queue: string; at: number; by: string; reason: string | null }>`
      select queue, ${ms('paused_at')} as at, paused_by as by, reason from queue_pauses`.execute(reader);
    return queues.map(({ table, slug, title }) => {
      const pause = rows.find(({ queue }) => queue === table);
      return { slug, title, paused: pause ? { at: pause.at, by: pause.by, reason: pause.reason } : null };
    });
  });
}

/** How long something is kept, and what decides it. */
export interface Kept {
  what: string;
  howLong: string;
  seconds: number | null;
  setting: string | null;
}

/** What erases itself, from the configuration of this process. */
export function retentionOf(config: Pick<Config, 'stagedBytesTtlSeconds' | 'sourceCacheTtlSeconds' | 'retentionEventDays' | 'retentionMinuteDays'>): Kept[] {
  return [
    { what: 'Uploaded files', howLong: 'erased in the statement that ends their parse item; a file that nothing parsed, after', seconds: config.stagedBytesTtlSeconds, setting: 'STAGED_BYTES_TTL_SECONDS' },
    { what: 'Rebuilt source indexes', howLong: 'in memory only, after', seconds: config.sourceCacheTtlSeconds, setting: 'SOURCE_CACHE_TTL_SECONDS' },
    { what: 'Answers to an Idempotency-Key', howLong: 'kept for', seconds: 86_400, setting: null },
    { what: 'Documents, chunks, claims and verdicts', howLong: 'until their user is erased (a guarded action, or DELETE /api/users/:userId)', seconds: null, setting: null },
    { what: 'Transitions (timelines, redeploys)', howLong: 'pruned by npx leaseboard retention run after', seconds: config.retentionEventDays * 86_400, setting: 'RETENTION_EVENT_DAYS' },
    { what: 'Messages of the webhook', howLong: 'pruned by npx leaseboard retention run after', seconds: config.retentionEventDays * 86_400, setting: 'RETENTION_EVENT_DAYS' },
    { what: 'Minute samples (charts)', howLong: 'pruned by npx leaseboard retention run after', seconds: config.retentionMinuteDays * 86_400, setting: 'RETENTION_MINUTE_DAYS' },
    { what: 'Finished rows and the audit', howLong: 'for good', seconds: null, setting: null },
  ];
}
