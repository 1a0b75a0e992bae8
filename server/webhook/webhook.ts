/**
 * The webhook of one web process, two loops. Every POLL_SECONDS one says whether its own listener is down and looks at what needs attention (if
 * no other process has just looked); the other sends what waits. Neither waits for the other: a slow receiver keeps nobody from looking, and slow
 * looks keep nothing from being sent. Any number may run. Killed at any moment it loses nothing: what stands and what was told is in the database
 * (attention.ts), and a message in flight is sent again by another, with the same id (outbox.ts).
 */
import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Config } from '../config.js';
import { readNow } from '../console/now.js';
import { POISON_SAMPLE } from '../console/now-trouble.js';
import type { DB } from '../db/generated.js';
import { outageDelayMs } from '../lease/backoff.js';
import type { Logger } from '../log.js';
import { abortable } from '../sources/abortable.js';
import { createLoop } from '../worker/loop.js';
import { record, see, takeLook } from './attention.js';
import { conditionsOf, LISTENER, type AttentionOf } from './conditions.js';
import { giveUp, putBack, resume, settleAway, settleRefused, settleSent, takeMessage, type Outgoing } from './outbox.js';
import { hostOf, post, TRY_MS } from './post.js';

/** A sender is believed dead after this (s): a try at its longest, and time to write down how it ended. */
const SENDER_SECONDS = TRY_MS / 1000 + 10;
/** A message that was refused (4xx, a redirect) is tried again after this (ms): somebody has to put something right first. */
const REFUSED_PAUSE_MS = 15 * 60_000;
/** A message that nobody took for so long (s) is given up: what it says is no longer news. */
export const GIVE_UP_SECONDS = 6 * 3_600;
/** A look that takes longer (ms) waits for a dead link: above the limit of a statement and the pool's wait for a connection. */
const LOOK_LIMIT_MS = 12_000;
/** Two processes look in turn; neither should find its turn taken by a hair. */
const LOOK_SHARE = 0.8;

export interface Webhook {
  start(): void;
  /** Ends a call in flight and puts its message back; a look ends within its limit. Never rejects. */
  stop(): Promise<void>;
}

interface Parts {
  config: Config & { webhookUrl: string };
  pool: pg.Pool;
  kysely: Kysely<DB>;
  log: Logger;
  listenerUp: () => boolean;
  /** What Now shows, in its words. */
  attentionOf: AttentionOf;
  /** The console as its users reach it. */
  origin: string;
}

export function createWebhook({ config, pool, kysely, log, listenerUp, attentionOf, origin }: Parts): Webhook {
  const { webhookUrl: url, pollSeconds: everySeconds } = config;
  const pace = { graceSeconds: config.webhookGraceSeconds, everySeconds, origin };
  const host = hostOf(url);
  const stopping = new AbortController();
  let resumed = false;
  const timing = { everyMs: everySeconds * 1000, jitter: 0.1, log };
  const looks = createLoop({ name: 'webhook looks', run: lookInTime, ...timing });
  const sends = createLoop({ name: 'webhook', run: sendWaiting, ...timing });

  async function sendWaiting(): Promise<void> {
    if (!resumed) await resume(pool);   // a restart may have put the address right
    resumed = true;
    const lost = await giveUp(pool, GIVE_UP_SECONDS);
    if (lost > 0) log.error({ event: 'webhook_given_up', host, messages: lost }, `The webhook took no message for ${GIVE_UP_SECONDS / 3_600} hours: ${lost} given up. What still stands is told anew; check WEBHOOK_URL and its receiver`);
    while (!stopping.signal.aborted && await sendNext());
  }

  /** A dead link may hold the transactions of a look for many minutes. If it comes to be written down after all, it is a late look like others. */
  function lookInTime(): Promise<void> {
    return abortable(look, LOOK_LIMIT_MS, new AbortController().signal);
  }

  /** What only this process knows is said at every turn; the rest by whoever looks. */
  async function look(): Promise<void> {
    const number = await takeLook(pool, everySeconds * LOOK_SHARE);
    if (number === null && listenerUp()) return;
    const view = await readNow(kysely, config);
    const conditions = conditionsOf(await attentionOf(view, view.asOf, { state: listenerUp() ? 'live' : 'polling' }));
    await see(pool, conditions.filter(({ key }) => key === LISTENER), pace);
    if (number === null) return;
    const sampled = view.poisonRows.length >= POISON_SAMPLE ? ['poison'] : [];
    await record(pool, { look: number, conditions: conditions.filter(({ key }) => key !== LISTENER), sampled }, pace);
  }

  /** @returns false when nothing is to be sent now. */
  async function sendNext(): Promise<boolean> {
    const message = await takeMessage(pool, SENDER_SECONDS);
    if (message) await send(message);
    return message !== null;
  }

  async function send(message: Outgoing): Promise<void> {
    const { id, event } = message;
    const delivery = await post(url, message, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;   // it stays taken until its sender's time is over
    });
    if (!delivery) return putBack(pool, message);
    if (delivery.outcome === 'taken') {
      await settleSent(pool, message);
      log.info({ event: 'webhook_sent', host, message: id, told: event }, 'The webhook took a message');
    } else {
      const restMs = delivery.outcome === 'refused' ? REFUSED_PAUSE_MS : outageDelayMs(message.failures, delivery.retryAfterMs);
      await (delivery.outcome === 'refused' ? settleRefused(pool, message, { trouble: delivery.trouble, restMs }) : settleAway(pool, message, { ...delivery, restMs }));
      log.warn({ event: 'webhook_failed', host, message: id, trouble: delivery.trouble, againInMs: Math.round(restMs) }, `The webhook ${delivery.trouble}; the message waits${delivery.outcome === 'refused' ? '. Check WEBHOOK_URL and what its receiver expects' : ''}`);
    }
  }

  return {
    start() {
      looks.start();
      sends.start();
    },
    async stop() {
      stopping.abort(new Error('this process is being stopped'));
      await Promise.all([looks.stop(), sends.stop()]);
    },
  };
}
