/** The account behind a provider's identity: found by issuer and subject alone, made at the first sign-in, its role read anew at each. */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { cleanText } from '../db/text.js';
import { inTransaction } from '../db/transaction.js';
import { recordAttempt } from './audit.js';
import type { ProviderIdentity } from './provider-sign-in.js';
import { openSession, type Browser } from './sessions.js';

const TIMEOUT_MS = 5_000;
const MAX_NAME_CHARS = 180;

export type ProviderAnswer = { ok: true; session: string; operatorId: string } | { ok: false; operatorId: string; words: string };

interface AccountRow {
  id: string;
  name: string;
  role: string;
  disabled: boolean;
}

/**
 * Opens a session for this identity, in one transaction with what it changes: a new account, or another role. Both go into the audit. The
 * provider may thereby take the last admin's role: it decides who its people are; `npx leaseboard signin-link` makes an admin then.
 */
export function signInFromProvider(pool: pg.Pool, identity: ProviderIdentity, browser: Browser): Promise<ProviderAnswer> {
  return inTransaction(pool, async (tx) => {
    const account = await findAccount(tx, identity) ?? await makeAccount(tx, identity);
    if (account.disabled) return { ok: false, operatorId: account.id, words: 'This account is disabled here, whatever the provider says. Ask an admin to enable it again.' };
    if (account.role !== identity.role) await takeRole(tx, account, identity);
    const session = await openSession(tx, account.id, 'oidc', browser);
    return session === undefined ? { ok: false, operatorId: account.id, words: 'This account is disabled here. Ask an admin to enable it again.' } : { ok: true, session, operatorId: account.id };
  }, { timeoutMs: TIMEOUT_MS });
}

async function findAccount(tx: pg.PoolClient, { issuer, subject }: ProviderIdentity): Promise<AccountRow | undefined> {
  const { rows } = await tx.query<AccountRow>(
    'select id, name, role, disabled_at is not null as disabled from operators where oidc_issuer = $1 and oidc_subject = $2 for update', [issuer, subject]);
  return rows[0];
}

/** A name that somebody has here is not theirs for having it there: the newcomer gets another one. Two first sign-ins at once make one account. */
async function makeAccount(tx: pg.PoolClient, identity: ProviderIdentity): Promise<AccountRow> {
  const base = cleanText(identity.name).replace(/\p{Cc}/gu, ' ').trim().slice(0, MAX_NAME_CHARS) || 'someone';
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} (${number})`;
    const id = uuidv7();
    const { rowCount } = await tx.query('insert into operators (id, name, role, oidc_issuer, oidc_subject) values ($1, $2, $3, $4, $5) on conflict do nothing', [id, name, identity.role, identity.issuer, identity.subject]);
    if (rowCount === 1) {
      await record(tx, { id, name, role: identity.role, disabled: false }, 'create_account', `Created the account ${name} (${identity.role}) at its first sign-in through the provider.`, null, identity.role);
      return { id, name, role: identity.role, disabled: false };
    }
    const found = await findAccount(tx, identity);
    if (found) return found;
  }
}

async function takeRole(tx: pg.PoolClient, account: AccountRow, { role }: ProviderIdentity): Promise<void> {
  await tx.query('update operators set role = $2 where id = $1', [account.id, role]);
  await record(tx, account, 'change_role', `${account.name} is now ${role}, was ${account.role}, as the provider says.`, account.role, role);
}

/** By the person's own sign-in: nobody else had a hand in it. */
async function record(tx: pg.PoolClient, account: AccountRow, action: string, answer: string, before: string | null, after: string): Promise<void> {
  await recordAttempt(tx, {
    attemptId: uuidv7(), actor: { kind: 'operator', id: account.id, name: account.name, role: after as ProviderIdentity['role'] }, via: 'page', action,
    target: { kind: 'account', id: account.id }, reason: 'signed in through the provider',
  }, { outcome: 'applied', refusal: null, answer, before: { role: before }, after: { role: after } });
}
