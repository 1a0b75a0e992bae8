/**
 * Signing in with a one-time link or with a password. The database decides: a link is used by one conditional UPDATE, so twenty people who
 * press the button at once get one session; a password must still be the account's when the session is written. Crash between any two
 * steps: nothing happened but an attempt that counts. Times on the database clock.
 */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { cleanText } from '../db/text.js';
import { inTransaction } from '../db/transaction.js';
import { keepPassword } from './account-password.js';
import { hashPassword, passwordFault, verifyPassword } from './password.js';
import { secretHash } from './secret.js';
import { openSession, type Browser } from './sessions.js';
import { forgiveAttempts, takeAttempt } from './sign-in-limit.js';

/** A statement inside a transaction may wait this long for a lock (ms). */
const TIMEOUT_MS = 5_000;

export type LinkRefusal = 'unknown' | 'expired' | 'used' | 'revoked' | 'disabled';

export type SigninLinkState =
  | { state: 'ready'; operatorName: string; expiresAt: number; mayHavePassword: boolean; hasPassword: boolean }
  | { state: LinkRefusal };

export interface SignedInOperator {
  id: string;
  name: string;
  role: string;
}

export type Redeemed =
  | { ok: true; session: string; operator: SignedInOperator }
  | { ok: false; reason: LinkRefusal }
  | { ok: false; reason: 'password'; fault: string };

/** What is true and what to do next, for each way in which a sign-in link does not open the door. */
export const linkRefusals: Readonly<Record<LinkRefusal, string>> = {
  unknown: 'This sign-in link is not known here. Check that it was copied whole, ask an admin for another, or make one on the server with: npx leaseboard signin-link',
  expired: 'This sign-in link has expired. Ask an admin for another, or make one on the server with: npx leaseboard signin-link',
  used: 'This sign-in link was used already; each works once. Ask an admin for another, or make one on the server with: npx leaseboard signin-link',
  revoked: 'This sign-in link was revoked. Ask an admin for another, or make one on the server with: npx leaseboard signin-link',
  disabled: 'This account is disabled. Ask an admin to enable it again.',
};

interface LinkRow {
  operator_id: string;
  name: string;
  expires_at: number;
  used: boolean;
  revoked: boolean;
  expired: boolean;
  disabled: boolean;
  outside: boolean;
  has_password: boolean;
}

/** Looks at a link without using it, for the page with the button. Expiry on the database clock; `expiresAt` in ms since epoch. */
export async function readSigninLink(pool: Pick<pg.Pool, 'query'>, token: string): Promise<SigninLinkState> {
  const { rows } = await pool.query<LinkRow>(limited(
    `select o.id as operator_id, o.name, extract(epoch from l.expires_at)::float8 * 1000 as expires_at,
            l.used_at is not null as used, l.revoked_at is not null as revoked, l.expires_at <= now() as expired, o.disabled_at is not null as disabled,
            o.oidc_issuer is not null as outside, o.password_hash is not null as has_password
       from signin_links l join operators o on o.id = l.operator_id
      where l.token_sha256 = $1`,
    [secretHash(token)],
  ));
  const link = rows[0];
  const refusal = refusalOf(link);
  return refusal || !link ? { state: refusal ?? 'unknown' }
    : { state: 'ready', operatorName: link.name, expiresAt: link.expires_at, mayHavePassword: !link.outside, hasPassword: link.has_password };
}

/** A disabled account revokes its links too; the account is what its owner should ask about. */
function refusalOf(link: LinkRow | undefined): LinkRefusal | undefined {
  if (!link) return 'unknown';
  if (link.used) return 'used';
  if (link.disabled) return 'disabled';
  if (link.revoked) return 'revoked';
  return link.expired ? 'expired' : undefined;
}

/**
 * Uses the link and opens a session, in one transaction: the link must be unused, unrevoked, unexpired and of an enabled operator *in the
 * UPDATE*. With `password` it also becomes the account's password, and every other session of it ends. Returns the session's secret for
 * the cookie (stored as a hash only), or why the link was refused. Throws on database errors.
 */
export async function redeemSigninLink(pool: pg.Pool, token: string, userAgent: string | null, more: { session?: string; password?: string } = {}): Promise<Redeemed> {
  const chosen = more.password === undefined ? undefined : await preparePassword(pool, token, more.password);
  if (chosen && 'fault' in chosen) return { ok: false, reason: 'password', fault: chosen.fault };
  const redeemed = await inTransaction(pool, async (tx): Promise<Redeemed | undefined> => {
    const operator = await useLink(tx, token);
    if (!operator) return undefined;
    if (chosen) await keepPassword(tx, operator.id, chosen.hash);
    const session = await openSession(tx, operator.id, 'link', { userAgent, session: more.session });
    return session === undefined ? undefined : { ok: true, session, operator };
  }, { timeoutMs: TIMEOUT_MS });
  if (redeemed) return redeemed;
  const link = await readSigninLink(pool, token);
  // Ready again between the two reads cannot be: a used link stays used, and an expired one expired. Say "used" rather than invent.
  return { ok: false, reason: link.state === 'ready' ? 'used' : link.state };
}

/** Locks the operator first: whoever disables them meanwhile comes before or after all of this, and two presses never wait for each other. */
async function useLink(tx: pg.PoolClient, token: string): Promise<SignedInOperator | undefined> {
  const { rows } = await tx.query<SignedInOperator>(
    `with owner as materialized (
       select o.id, o.name, o.role from operators o join signin_links l on l.operator_id = o.id
        where l.token_sha256 = $1 and o.disabled_at is null for no key update of o)
     update signin_links l set used_at = now() from owner
      where l.token_sha256 = $1 and l.used_at is null and l.revoked_at is null and l.expires_at > now() and owner.id = l.operator_id
     returning owner.id, owner.name, owner.role`,
    [secretHash(token)],
  );
  return rows[0];
}

/** Hashed before the transaction: a lock must not be held while a thread computes. */
async function preparePassword(pool: pg.Pool, token: string, password: string): Promise<{ hash: string } | { fault: string } | undefined> {
  const link = await readSigninLink(pool, token);
  if (link.state !== 'ready') return undefined;
  if (!link.mayHavePassword) return { fault: 'This account signs in through the provider and has no password here. Leave both fields empty.' };
  const fault = passwordFault(password, link.operatorName);
  return fault === null ? { hash: await hashPassword(password) } : { fault };
}

export type PasswordAnswer =
  | { ok: true; session: string; operator: SignedInOperator }
  /** One answer for an unknown name, a wrong password, an account without one and a disabled account. */
  | { ok: false; reason: 'wrong'; operatorId: string | null }
  | { ok: false; reason: 'too_many'; retryAfterSeconds: number };

/** Words for the two refusals of a password. */
export const WRONG_PASSWORD = 'No account that may sign in has this name and this password. Check both; an admin can make a one-time link with which you set a new password.';
export const tooManyAttempts = (seconds: number) => `Too many attempts for this name or from this address. Try again in ${seconds} s. A one-time link works all the same.`;

/** `address` as addressKey() gives it. The attempt counts before the password is looked at. Throws on database errors. */
export async function signInWithPassword(pool: pg.Pool, attempt: { name: string; password: string; address: string; browser: Browser }): Promise<PasswordAnswer> {
  const name = cleanText(attempt.name).trim().slice(0, 200);
  const wait = await takeAttempt(pool, 'address', attempt.address) || await takeAttempt(pool, 'account', name);
  if (wait > 0) return { ok: false, reason: 'too_many', retryAfterSeconds: wait };
  const account = await readAccount(pool, name);
  const { ok, outdated } = await verifyPassword(account?.hash ?? null, attempt.password);
  if (!ok || !account || account.hash === null || account.disabled) return { ok: false, reason: 'wrong', operatorId: account?.id ?? null };
  const session = await openWhilePasswordHolds(pool, account.id, account.hash, attempt.browser);
  if (session === undefined) return { ok: false, reason: 'wrong', operatorId: account.id };
  await forgiveAttempts(pool, name, attempt.address);
  if (outdated) await rehash(pool, account.id, account.hash, attempt.password);
  return { ok: true, session, operator: { id: account.id, name: account.name, role: account.role } };
}

interface Account extends SignedInOperator {
  hash: string | null;
  disabled: boolean;
}

async function readAccount(pool: pg.Pool, name: string): Promise<Account | undefined> {
  const { rows } = await pool.query<Account>(limited(
    'select id, name, role, password_hash as hash, disabled_at is not null as disabled from operators where lower(name) = lower($1)', [name]));
  return rows[0];
}

/** Undefined when the password was changed, or the account disabled, since it was read. */
function openWhilePasswordHolds(pool: pg.Pool, operatorId: string, hash: string, browser: Browser): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query('select 1 from operators where id = $1 and password_hash = $2 and disabled_at is null for share', [operatorId, hash]);
    return rowCount === 1 ? openSession(tx, operatorId, 'password', browser) : undefined;
  }, { timeoutMs: TIMEOUT_MS });
}

async function rehash(pool: pg.Pool, operatorId: string, old: string, password: string): Promise<void> {
  await pool.query(limited('update operators set password_hash = $3 where id = $1 and password_hash = $2', [operatorId, old, await hashPassword(password)]));
}
