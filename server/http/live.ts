/**
 * GET /live?topics=…: the console's event stream. Behind the door, and at every ping the session and the role are read again, so that a
 * revoked session or a disabled account loses its stream within two pings. A stream ends after some minutes with a clean reconnect:
 * what a browser holds is never older than that, whatever went wrong unseen.
 */
import { Router, type Request, type Response } from 'express';
import { Problem, sendProblem } from '../api/problem.js';
import { parseTopics } from '../console/live-topics.js';
import { createLiveHub, type LiveHub } from '../console/live-hub.js';
import { createViews } from '../console/live-views.js';
import type { Logger } from '../log.js';
import { openLiveResponse, type Farewell } from './live-response.js';
import { createRounds, type Recheck } from './live-rounds.js';
import type { Operator, Role, World } from './load-context.js';
import { findRolesBySessionId } from './principal.js';

export interface LiveOptions {
  hub: LiveHub;
  recheck: Recheck;
  log: Logger;
  pingMs?: number;
  maxAgeMs?: number;
  maxPerOperator?: number;
}

export interface Live {
  router: Router;
  clients(): number;
  /** Says goodbye to every stream; new ones are refused. Idempotent. */
  close(): void;
}

const PING_MS = 15_000;
const MAX_AGE_MS = 10 * 60_000;
const MAX_PER_OPERATOR = 20;

/** The live board of one web process, with its stream. close() ends both; call it before the server waits for its connections. */
export function openLive(world: World): Live {
  const { listener, pool, log, config } = world;
  const hub = createLiveHub({ listener, views: createViews(world, config), log, pollSeconds: config.pollSeconds });
  const live = createLive({ hub, log, recheck: (sessionIds) => findRolesBySessionId(pool, sessionIds) });
  return {
    ...live,
    close() {
      live.close();
      hub.close();
    },
  };
}

/** The stream over a hub. */
export function createLive(options: LiveOptions): Live {
  const { hub, recheck, log, pingMs = PING_MS, maxAgeMs = MAX_AGE_MS, maxPerOperator = MAX_PER_OPERATOR } = options;
  const visit = createRounds(recheck, log, pingMs);
  const open = new Map<string, number>();
  const byes = new Set<(reason: Farewell) => void>();
  let closed = false;
  const router = Router();

  router.get('/', (req: Request, res: Response) => {
    const operator = res.locals.operator as Operator | null;
    if (!operator) return sendProblem(res, new Problem(401, 'signed_out', 'No session, or it has ended. Sign in at /signin and try again.'));
    const topics = parseTopics(req.originalUrl.split('?')[1] ?? '');
    if (!topics) return sendProblem(res, new Problem(400, 'unknown_topic', 'Ask for topics as in /live?topics=summary,workers; see server/console/live-topics.ts.'));
    if (closed) return sendProblem(res, new Problem(503, 'stopping', 'This process is being stopped. Connect again in a moment.', { headers: { 'Retry-After': '2' } }));
    const mine = open.get(operator.id) ?? 0;
    if (mine >= maxPerOperator) {
      return sendProblem(res, new Problem(429, 'too_many_streams', `${mine} live streams are open for ${operator.name}. Close some tabs, then reload.`, { headers: { 'Retry-After': '10' } }));
    }
    if (res.closed || res.socket?.destroyed) return; // left while its session was read: `close` will not come again
    if (req.method === 'HEAD') return void res.type('text/event-stream').end();
    stream(res, operator, topics);
  });

  function stream(res: Response, operator: Operator, topics: NonNullable<ReturnType<typeof parseTopics>>): void {
    count(operator.id, 1);
    const live = openLiveResponse(res, { drained: () => hub.resnapshot(live), close: end });
    const leave = hub.open(topics, live);
    const unvisit = visit({ sessionId: operator.sessionId, ping: live.ping, found });
    const age = setTimeout(() => live.bye('max_age'), maxAgeMs * (0.8 + 0.4 * Math.random())).unref();
    byes.add(live.bye);

    function found(role: Role | null): void {
      if (!role) live.bye('signed_out');
      else if (role !== operator.role) live.bye('max_age'); // comes back at once, as who it is now
    }

    function end(): void {
      unvisit();
      clearTimeout(age);
      byes.delete(live.bye);
      leave();
      count(operator.id, -1);
    }
  }

  function count(operatorId: string, change: 1 | -1): void {
    const now = (open.get(operatorId) ?? 0) + change;
    if (now > 0) open.set(operatorId, now);
    else open.delete(operatorId);
  }

  return {
    router,
    clients: () => byes.size,
    close() {
      closed = true;
      for (const bye of [...byes]) bye('shutdown');
    },
  };
}
