/**
 * Who is asking. The session and the role are read from the database at every request: a revoked session, a disabled account or a
 * changed role counts from the next request on. All times on the database clock.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { secretHash } from '../operations/secret.js';
import { sessionFromCookies } from '../operations/session-cookie.js';
import { SESSION_IDLE_HOURS } from '../operations/sign-in.js';
import type { Operator, Role, World } from './load-context.js';

/** Sets res.locals.operator (null without a valid session). Database errors go to the error handler: unknown is not signed out. */
export function principal(world: World): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    const session = sessionFromCookies(req.headers.cookie);
    res.locals.operator = null;
    if (!session) return next();
    findOperator(world.pool, session).then((operator) => {
      res.locals.operator = operator;
      next();
    }, next);
  };
}

/** The operator behind a session's secret, or null when it is unknown, revoked, expired, idle for too long, or of a disabled account. */
export async function findOperator(pool: pg.Pool, session: string): Promise<Operator | null> {
  const hash = secretHash(session);
  const operator = await readOperator(pool, hash);
  if (operator?.unseen) await noteSeen(pool, hash);
  return operator && { id: operator.id, name: operator.name, role: operator.role, sessionId: hash.toString('hex') };
}

/** The same by session id, for a stream that checks again while it lasts. Does not count as activity. */
export async function findOperatorBySessionId(pool: pg.Pool, sessionId: string): Promise<Operator | null> {
  const operator = await readOperator(pool, Buffer.from(sessionId, 'hex'));
  return operator && { id: operator.id, name: operator.name, role: operator.role, sessionId };
}

async function readOperator(pool: pg.Pool, hash: Buffer): Promise<{ id: string; name: string; role: Role; unseen: boolean } | null> {
  const { rows } = await pool.query<{ id: string; name: string; role: Role; unseen: boolean }>(limited(
    `select o.id, o.name, o.role, s.last_seen_at < now() - interval '1 minute' as unseen
       from operator_sessions s join operators o on o.id = s.operator_id
      where s.token_sha256 = $1 and s.revoked_at is null and o.disabled_at is null
        and s.expires_at > now() and s.last_seen_at > now() - make_interval(hours => $2)`,
    [hash, SESSION_IDLE_HOURS],
  ));
  return rows[0] ?? null;
}

/** At most once a minute and session; a failure (a read-only server, say) costs nothing but an earlier idle end. */
async function noteSeen(pool: pg.Pool, hash: Buffer): Promise<void> {
  await pool
    .query(limited(`update operator_sessions set last_seen_at = now() where token_sha256 = $1 and last_seen_at < now() - interval '1 minute'`, [hash]))
    .catch(() => undefined);
}
