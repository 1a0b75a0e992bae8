/**
 * Who is asking. The session and the role are read from the database at every request: a revoked session, a disabled account or a
 * changed role counts from the next request on. A changed role renews the session's secret. All times on the database clock.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { secretHash } from '../operations/secret.js';
import { sessionCookie, sessionFromCookies } from '../operations/session-cookie.js';
import { RENEWAL_GRACE_SECONDS, renewSession, SESSION_IDLE_HOURS } from '../operations/sessions.js';
import type { Operator, Role, World } from './load-context.js';

/** Sets res.locals.operator (null without a valid session). Database errors go to the error handler: unknown is not signed out. */
export function principal(world: World): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    const session = sessionFromCookies(req.headers.cookie);
    res.locals.operator = null;
    if (!session) return next();
    identify(world, session, res).then(() => next(), next);
  };
}

async function identify({ pool, config }: World, session: string, res: Response): Promise<void> {
  const [found] = await readOperators(pool, 's.token_sha256 = $1 or (s.previous_sha256 = $1 and s.renewed_at > now() - make_interval(secs => $3))', secretHash(session), [RENEWAL_GRACE_SECONDS]);
  if (!found) return;
  if (found.unseen) await noteSeen(pool, found.sessionId);
  const renewed = found.outdated ? await renewSession(pool, session).catch(() => undefined) : undefined;
  if (renewed !== undefined) res.append('Set-Cookie', sessionCookie(config, renewed));
  res.locals.operator = operatorOf(found);
}

/** The roles behind these sessions, those left out that have ended: for streams that check again while they last. Does not count as activity. */
export async function findRolesBySessionId(pool: pg.Pool, sessionIds: readonly string[]): Promise<ReadonlyMap<string, Role>> {
  const found = await readOperators(pool, 's.id = any($1::uuid[])', sessionIds);
  return new Map(found.map(({ sessionId, role }) => [sessionId, role]));
}

interface Found extends Operator {
  /** No request for a minute. */
  unseen: boolean;
  /** The secret was given out under another role. */
  outdated: boolean;
}

function operatorOf({ id, name, role, sessionId }: Found): Operator {
  return { id, name, role, sessionId };
}

/** Without sessions that are unknown, revoked, expired, idle for too long, or of a disabled account. `condition` is ours; it may use $1, $3 and so on. */
async function readOperators(pool: pg.Pool, condition: string, key: Buffer | readonly string[], more: unknown[] = []): Promise<Found[]> {
  const { rows } = await pool.query<Found & { role: Role }>(limited(
    `select o.id, o.name, o.role, s.id as "sessionId", s.last_seen_at < now() - interval '1 minute' as unseen, s.role is distinct from o.role as outdated
       from operator_sessions s join operators o on o.id = s.operator_id
      where (${condition}) and s.revoked_at is null and o.disabled_at is null
        and s.expires_at > now() and s.last_seen_at > now() - make_interval(hours => $2)`,
    [key, SESSION_IDLE_HOURS, ...more],
  ));
  return rows;
}

/** At most once a minute and session; a failure (a read-only server, say) costs nothing but an earlier idle end. */
async function noteSeen(pool: pg.Pool, sessionId: string): Promise<void> {
  await pool
    .query(limited(`update operator_sessions set last_seen_at = now() where id = $1 and last_seen_at < now() - interval '1 minute'`, [sessionId]))
    .catch(() => undefined);
}
