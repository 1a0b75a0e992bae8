import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueNow } from './now-queues.js';
import { readQueueNow } from './now-queues.js';
import type { Trouble } from './now-trouble.js';
import { readTrouble } from './now-trouble.js';
import type { FleetNow } from './now-fleet.js';
import { readFleet } from './now-fleet.js';
import type { Gaps } from './now-gaps.js';
import { readGaps } from './now-gaps.js';
import type { DrainBoard } from './redeploy-board.js';
import { readDrainBoards } from './redeploy-board.js';
import { readWebhookFailing, type WebhookFailing } from './webhook-state.js';
import { queuesInOrder } from './queue-of-url.js';
import { readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** The facts behind the Now page and the rail's counts; the page turns them into sentences. */
export interface NowView extends Stamp, FleetNow, Gaps, Trouble {
  /** WEBHOOK_URL's receiver takes nothing of what waits; null while all is well, or while it is unset. */
  webhook: WebhookFailing | null;
  queues: QueueNow[];
  /** Redeploys that roll now, newest first. */
  boards: DrainBoard[];
}

/** What Now must know of the configuration (seconds). */
export interface NowLimits {
  stagedBytesTtlSeconds: number;
  publishDeadAfterSeconds: number;
  webhookUrl?: string | undefined;
}

/** Everything on Now in one read-only transaction; cheap enough to run once a second. @throws ReadTimeoutError */
export function readNow(kysely: Kysely<DB>, limits: NowLimits): Promise<NowView> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const views: QueueNow[] = [];
    for (const queue of queuesInOrder()) views.push(await readQueueNow(reader, queue, stamp.asOf));
    const fleet = await readFleet(reader);
    const gaps = await readGaps(reader);
    const trouble = await readTrouble(reader, stamp.asOf, limits);
    const boards = await readDrainBoards(reader);
    const webhook = await readWebhookFailing(reader, stamp.asOf, limits.webhookUrl);
    return { ...stamp, queues: views, boards, webhook, ...fleet, ...gaps, ...trouble };
  });
}
