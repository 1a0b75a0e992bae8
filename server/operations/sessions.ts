/**
 * Sessions of signed-in people: opened, renewed, listed, revoked. A session has an id (safe to show and to log) and a secret that only the
 * browser holds; the database keeps the secret's hash. Times on the database clock, answered in milliseconds since 1970.
 */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { limited } from '../db/limited.js';
import { cleanText } from '../db/text.js';
import { newSecret, secretHash } from './secret.js';

type Db = Pick<pg.ClientBase, 'query'>;

/** A session ends after this many hours without a request, and after this many hours in any case. */
export const SESSION_IDLE_HOURS = 12;
export const SESSION_MAX_HOURS = 7 * 24;
/** Requests that a browser sent with the secret of just before a renewal are still let in for so long. */
export const RENEWAL_GRACE_SECONDS = 10;

export type SessionVia = 'link' | 'password' | 'oidc';

/** What a sign-in knows of the browser. `session`: the secret it came with, if any; it dies, whoever it belonged to. */
export interface Browser {
  userAgent: string | null;
  session?: string;
}

/**
 * Opens a session for an operator who is enabled at this very moment; undefined when they are not. One statement; run it in the transaction
 * of whatever proved who they are. Returns the secret for the cookie.
 */
export async function openSession(db: Db, operatorId: string, via: SessionVia, browser: Browser): Promise<string | undefined> {
  const secret = newSecret();
  const { rowCount } = await db.query(
    `with ended as (update operator_sessions set revoked_at = now() where token_sha256 = $6 and revoked_at is null)
     insert into operator_sessions (id, token_sha256, operator_id, role, via, expires_at, user_agent)
     select $1, $2, id, role, $3, now() + make_interval(hours => $4), $5 from operators where id = $7 and disabled_at is null`,
    [uuidv7(), secretHash(secret), via, SESSION_MAX_HOURS, browser.userAgent === null ? null : cleanText(browser.userAgent).slice(0, 300),
      browser.session === undefined ? null : secretHash(browser.session), operatorId],
  );
  return rowCount === 1 ? secret : undefined;
}

/**
 * A new secret for a session whose role has changed since it was given its old one, which is dead for new requests after a few seconds.
 * Undefined when another request did it first. One statement.
 */
export async function renewSession(pool: pg.Pool, session: string): Promise<string | undefined> {
  const secret = newSecret();
  const { rowCount } = await pool.query(limited(
    `update operator_sessions s set token_sha256 = $2, previous_sha256 = $1, renewed_at = now(), role = o.role
       from operators o where s.token_sha256 = $1 and o.id = s.operator_id and s.role is distinct from o.role and s.revoked_at is null`,
    [secretHash(session), secretHash(secret)],
  ));
  return rowCount === 1 ? secret : undefined;
}

/** Ends one session (`sessionId` as in the load context's operator). True if it was open until now; safe to repeat. */
export async function signOut(pool: pg.Pool, sessionId: string): Promise<boolean> {
  return (await pool.query(limited('update operator_sessions set revoked_at = now() where id = $1 and revoked_at is null', [sessionId]))).rowCount === 1;
}
