/**
 * Signing in with a one-time link, and out again. The database decides: a link is used by one conditional UPDATE, so twenty people
 * who press the button at once get one session. Crash between the two writes: both are one statement, so never half of it.
 */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { cleanText } from '../db/text.js';
import { newSecret, secretHash } from './secret.js';

/** An operator's session ends after this many hours without a request, and after this many hours in any case. */
export const SESSION_IDLE_HOURS = 12;
export const SESSION_MAX_HOURS = 7 * 24;

export type LinkRefusal = 'unknown' | 'expired' | 'used' | 'disabled';

export type SigninLinkState =
  | { state: 'ready'; operatorName: string; expiresAt: number }
  | { state: LinkRefusal };

export type Redeemed =
  | { ok: true; session: string; operator: { id: string; name: string; role: string } }
  | { ok: false; reason: LinkRefusal };

/** What is true and what to do next, for each way in which a sign-in link does not open the door. */
export const linkRefusals: Readonly<Record<LinkRefusal, string>> = {
  unknown: 'This sign-in link is not known here. Check that it was copied whole, or make a new one on the server with: npx leaseboard signin-link',
  expired: 'This sign-in link has expired. Make a new one on the server with: npx leaseboard signin-link',
  used: 'This sign-in link was used already; each works once. Make a new one on the server with: npx leaseboard signin-link',
  disabled: 'This account is disabled. Ask an admin to enable it again.',
};

/** Looks at a link without using it, for the page with the button. Expiry on the database clock; `expiresAt` in ms since epoch. */
export async function readSigninLink(pool: pg.Pool, token: string): Promise<SigninLinkState> {
  const { rows } = await pool.query<LinkRow>(limited(
    `select o.name, extract(epoch from l.expires_at)::float8 * 1000 as expires_at,
            l.used_at is not null as used, l.expires_at <= now() as expired, o.disabled_at is not null as disabled
       from signin_links l join operators o on o.id = l.operator_id
      where l.token_sha256 = $1`,
    [secretHash(token)],
  ));
  const link = rows[0];
  const refusal = refusalOf(link);
  return refusal || !link ? { state: refusal ?? 'unknown' } : { state: 'ready', operatorName: link.name, expiresAt: link.expires_at };
}

interface LinkRow {
  name: string;
  expires_at: number;
  used: boolean;
  expired: boolean;
  disabled: boolean;
}

function refusalOf(link: LinkRow | undefined): LinkRefusal | undefined {
  if (!link) return 'unknown';
  if (link.used) return 'used';
  if (link.expired) return 'expired';
  return link.disabled ? 'disabled' : undefined;
}

/**
 * Uses the link and opens a session, in one statement: the link must be unused, unexpired and of an enabled operator *in the UPDATE*.
 * Returns the session's secret for the cookie (stored as a hash only), or why the link was refused. Throws on database errors.
 */
export async function redeemSigninLink(pool: pg.Pool, token: string, userAgent: string | null): Promise<Redeemed> {
  const session = newSecret();
  const { rows } = await pool.query<{ id: string; name: string; role: string }>(limited(
    `with used as (
       update signin_links l set used_at = now()
         from operators o
        where l.token_sha256 = $1 and l.used_at is null and l.expires_at > now()
          and o.id = l.operator_id and o.disabled_at is null
       returning l.operator_id
     ), opened as (
       insert into operator_sessions (token_sha256, operator_id, expires_at, user_agent)
       select $2, operator_id, now() + make_interval(hours => $3), $4 from used
       returning operator_id
     )
     select o.id, o.name, o.role from opened join operators o on o.id = opened.operator_id`,
    [secretHash(token), secretHash(session), SESSION_MAX_HOURS, userAgent === null ? null : cleanText(userAgent).slice(0, 300)],
  ));
  const operator = rows[0];
  if (operator) return { ok: true, session, operator };
  const link = await readSigninLink(pool, token);
  // Ready again between the two reads cannot be: a used link stays used, and an expired one expired. Say "used" rather than invent.
  return { ok: false, reason: link.state === 'ready' ? 'used' : link.state };
}

/** Ends one session (`sessionId` as in the load context's operator). True if it was open until now; safe to repeat. */
export async function signOut(pool: pg.Pool, sessionId: string): Promise<boolean> {
  const { rowCount } = await pool.query(limited(
    `update operator_sessions set revoked_at = now() where token_sha256 = decode($1, 'hex') and revoked_at is null`,
    [sessionId],
  ));
  return rowCount === 1;
}
