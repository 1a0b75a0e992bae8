/** An account's password: set by its owner (one-time link, account page) or on the server (command line). Everything here needs a transaction. */
import type pg from 'pg';
import { hashPassword, passwordFault, verifyPassword } from './password.js';

type Tx = Pick<pg.ClientBase, 'query'>;

/** Who has no password yet may set one without an old one only so soon after signing in. */
export const FRESH_MINUTES = 15;

/**
 * Keeps the hash as the account's password. Every session opened before ends, except `keepSession`; links too, since one may be in the wrong
 * hands. Answers how many ended; undefined when the account comes through a provider, or (`was` given) its password is another one by now.
 */
export async function keepPassword(tx: Tx, operatorId: string, hash: string, more: { was?: string | null; keepSession?: string } = {}): Promise<number | undefined> {
  const { rowCount } = await tx.query(
    `update operators set password_hash = $2, password_set_at = now()
      where id = $1 and oidc_issuer is null and ($3 or password_hash is not distinct from $4)`,
    [operatorId, hash, more.was === undefined, more.was ?? null],
  );
  if (rowCount !== 1) return undefined;
  const ended = await tx.query('update operator_sessions set revoked_at = now() where operator_id = $1 and revoked_at is null and expires_at > now() and id is distinct from $2', [operatorId, more.keepSession ?? null]);
  await tx.query('update signin_links set revoked_at = now() where operator_id = $1 and revoked_at is null and used_at is null', [operatorId]);
  return ended.rowCount ?? 0;
}

export type Prepared = { ok: true; hash: string; was: string | null } | { ok: false; code: 'wrong_password' | 'weak_password' | 'not_fresh' | 'outside_account'; fault: string };

/**
 * Looks at what the owner typed and hashes the new password; run it before the transaction of keepPassword, since it computes for a while.
 * The caller has taken an attempt of the account's allowance (sign-in-limit.ts): a stolen session must not guess the old password.
 */
export async function prepareOwnPassword(db: Tx, who: { operatorId: string; sessionId: string; old: string; new: string }): Promise<Prepared> {
  const { rows } = await db.query<{ name: string; hash: string | null; outside: boolean; fresh: boolean }>(
    `select o.name, o.password_hash as hash, o.oidc_issuer is not null as outside, s.created_at > now() - make_interval(mins => $3) as fresh
       from operators o join operator_sessions s on s.operator_id = o.id where o.id = $1 and s.id = $2`, [who.operatorId, who.sessionId, FRESH_MINUTES]);
  const account = rows[0];
  if (!account || account.outside) return { ok: false, code: 'outside_account', fault: 'This account signs in through the provider. Change the password there.' };
  if (account.hash === null && !account.fresh) return { ok: false, code: 'not_fresh', fault: `A first password can be set within ${FRESH_MINUTES} minutes of signing in. Sign out, and in again with a one-time link.` };
  if (account.hash !== null && !(await verifyPassword(account.hash, who.old)).ok) return { ok: false, code: 'wrong_password', fault: 'The old password is not right. Nothing was changed.' };
  const fault = passwordFault(who.new, account.name);
  return fault === null ? { ok: true, hash: await hashPassword(who.new), was: account.hash } : { ok: false, code: 'weak_password', fault };
}
