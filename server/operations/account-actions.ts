/** What may be done to accounts. Each repeats its guard in its statement; none can leave the console without an admin who may sign in. */
import type pg from 'pg';
import { z } from 'zod';
import { cleanText } from '../db/text.js';
import { defineAction, type Applied, type Snapshot, type Target } from './action.js';
import { keepPassword, prepareOwnPassword } from './account-password.js';
import { createOperator, operatorRoles, type OperatorRole } from './accounts.js';
import { hashPassword, passwordFault } from './password.js';

const id = z.uuid().toLowerCase();
const role = z.enum(operatorRoles as [OperatorRole, ...OperatorRole[]]);
export const accountName = z.string().transform((text) => cleanText(text).trim()).pipe(z.string().min(1).max(200).regex(/^\P{Cc}*$/u, 'control characters are no part of a name'));

const account = ({ id: accountId }: { id: string }): Target => ({ kind: 'account', id: accountId });
const applied = (before: Snapshot, after: Snapshot): Applied => ({ outcome: 'applied', before, after, changed: [], kicks: [] });

interface AccountNow extends Snapshot {
  name: string;
  role: string;
  disabled: boolean;
  outside: boolean;
}

async function readAccount(tx: pg.PoolClient, accountId: string): Promise<AccountNow | undefined> {
  const { rows } = await tx.query<AccountNow>('select name, role, disabled_at is not null as disabled, oidc_issuer is not null as outside from operators where id = $1', [accountId]);
  return rows[0];
}

/** Locks every admin who counts, in one order, so that two admins who demote each other do it one after the other, the second seeing the first. */
async function lockAdmins(tx: pg.PoolClient): Promise<void> {
  await tx.query(`select 1 from operators where role = 'admin' and disabled_at is null order by id for update`);
}

/** True of an operator `o` who is not the last enabled admin. */
const NOT_LAST_ADMIN = `(o.role <> 'admin' or o.disabled_at is not null
  or exists (select 1 from operators a where a.role = 'admin' and a.disabled_at is null and a.id <> o.id))`;
const lastAdmin = ({ name }: Snapshot) => `${String(name)} is the last admin who can sign in. Nothing was changed; make somebody else an admin first.`;

export const createAccount = defineAction({
  name: 'create_account',
  permission: 'admin',
  fields: z.object({ id, name: accountName, role }),
  target: account,
  guard: 'Only while nobody has this name.',
  consequence: 'A one-time link is made; with it they sign in and choose a password.',
  did: ({ after }) => `Created the account ${String(after.name)} (${String(after.role)}).`,
  refusals: { name_taken: ({ name }) => `There is an account called ${String(name)} already (case aside). Nothing was changed; choose another name.` },
  async act(tx, input) {
    if (!await createOperator(tx, input.name, input.role, input.id)) return { outcome: 'refused', code: 'name_taken', now: { name: input.name } };
    return applied({ exists: false }, { name: input.name, role: input.role });
  },
});

export const changeRole = defineAction({
  name: 'change_role',
  permission: 'admin',
  fields: z.object({ id, role, was: role }),
  target: account,
  guard: 'Only while the role is the one you saw, and an admin is left.',
  consequence: 'It counts from their next request on. Their sessions get new secrets, and open pages reconnect.',
  did: ({ before, after }) => `${String(after.name)} is now ${String(after.role)}, was ${String(before.role)}.`,
  refusals: {
    same_role: ({ name, role: now }) => `${String(name)} is ${String(now)} already. Nothing was changed.`,
    changed: ({ name, role: now }) => `${String(name)} is ${String(now)} by now, not what you saw. Nothing was changed; look again.`,
    outside_account: ({ name }) => `The role of ${String(name)} comes from the provider and is read at each sign-in. Nothing was changed; change it there.`,
    last_admin: lastAdmin,
  },
  async act(tx, input) {
    await lockAdmins(tx);
    const { rows } = await tx.query<{ name: string }>(
      `update operators o set role = $2 where o.id = $1 and o.role = $3 and o.role <> $2 and o.oidc_issuer is null and ${NOT_LAST_ADMIN} returning o.name`, [input.id, input.role, input.was]);
    if (rows[0]) return applied({ name: rows[0].name, role: input.was }, { name: rows[0].name, role: input.role });
    const now = await readAccount(tx, input.id);
    if (!now) return { outcome: 'refused', code: 'not_found', now: null };
    const code = now.outside ? 'outside_account' : now.role === input.role ? 'same_role' : now.role === input.was ? 'last_admin' : 'changed';
    return { outcome: 'refused', code, now };
  },
});

/** Sessions and links of an account, ended for good: enabling it again does not bring them back. */
async function shutOut(tx: pg.PoolClient, accountId: string): Promise<{ sessionsEnded: number; linksRevoked: number }> {
  const sessions = await tx.query('update operator_sessions set revoked_at = now() where operator_id = $1 and revoked_at is null and expires_at > now()', [accountId]);
  const links = await tx.query('update signin_links set revoked_at = now() where operator_id = $1 and revoked_at is null and used_at is null', [accountId]);
  return { sessionsEnded: sessions.rowCount ?? 0, linksRevoked: links.rowCount ?? 0 };
}

export const disableAccount = defineAction({
  name: 'disable_account',
  permission: 'admin',
  fields: z.object({ id }),
  target: account,
  guard: 'Only while the account is enabled, and an admin is left.',
  consequence: 'Their sessions end at once, open pages within half a minute; their links are revoked. The account stays in the audit and can be enabled again.',
  did: ({ after }) => `Disabled ${String(after.name)}; ${String(after.sessionsEnded)} of their sessions ended, ${String(after.linksRevoked)} links were revoked.`,
  refusals: {
    already_disabled: ({ name }) => `${String(name)} is disabled already. Nothing was changed.`,
    last_admin: lastAdmin,
  },
  async act(tx, input) {
    await lockAdmins(tx);
    const { rows } = await tx.query<{ name: string }>(`update operators o set disabled_at = now() where o.id = $1 and o.disabled_at is null and ${NOT_LAST_ADMIN} returning o.name`, [input.id]);
    if (rows[0]) return applied({ name: rows[0].name, disabled: false }, { name: rows[0].name, disabled: true, ...await shutOut(tx, input.id) });
    const now = await readAccount(tx, input.id);
    return now ? { outcome: 'refused', code: now.disabled ? 'already_disabled' : 'last_admin', now } : { outcome: 'refused', code: 'not_found', now: null };
  },
});

export const enableAccount = defineAction({
  name: 'enable_account',
  permission: 'admin',
  fields: z.object({ id }),
  target: account,
  guard: 'Only while the account is disabled.',
  consequence: 'They may sign in again, with the password or the provider they had. Ended sessions stay ended.',
  did: ({ after }) => `Enabled ${String(after.name)} again.`,
  refusals: { already_enabled: ({ name }) => `${String(name)} is enabled already. Nothing was changed.` },
  async act(tx, input) {
    const { rows } = await tx.query<{ name: string }>('update operators set disabled_at = null where id = $1 and disabled_at is not null returning name', [input.id]);
    if (rows[0]) return applied({ name: rows[0].name, disabled: true }, { name: rows[0].name, disabled: false });
    const now = await readAccount(tx, input.id);
    return now ? { outcome: 'refused', code: 'already_enabled', now } : { outcome: 'refused', code: 'not_found', now: null };
  },
});

const password = z.string().max(1_000);
const fault = (facts: Snapshot) => String(facts.fault);

/** By its owner, who is signed in. The caller has taken an attempt of the account's allowance: a stolen session must not guess. */
export const changeOwnPassword = defineAction({
  name: 'change_own_password',
  permission: 'viewer',
  fields: z.object({ id, sessionId: id, old: password, new: password }),
  target: account,
  guard: 'Only with the old password, or within a quarter of an hour of signing in when there is none.',
  consequence: 'Your other sessions end, and open links to your account are revoked.',
  did: ({ after }) => `${String(after.name)} changed the password; ${String(after.sessionsEnded)} other sessions ended.`,
  refusals: { wrong_password: fault, weak_password: fault, not_fresh: fault, outside_account: fault, changed: () => 'The password was changed elsewhere meanwhile. Nothing was changed here; use the new one.' },
  async act(tx, input, { actor }) {
    const now = await readAccount(tx, input.id);
    if (!now || actor.id !== input.id) return { outcome: 'refused', code: 'not_found', now: null };
    const prepared = await prepareOwnPassword(tx, { operatorId: input.id, sessionId: input.sessionId, old: input.old, new: input.new });
    if (!prepared.ok) return { outcome: 'refused', code: prepared.code, now: null, facts: { fault: prepared.fault } };
    const ended = await keepPassword(tx, input.id, prepared.hash, { was: prepared.was, keepSession: input.sessionId });
    if (ended === undefined) return { outcome: 'refused', code: 'changed', now };
    return applied({ name: now.name, hadPassword: prepared.was !== null }, { name: now.name, sessionsEnded: ended });
  },
});

/** On the server. On a page it would be somebody else's password; there, a link does it. */
export const setAccountPassword = defineAction({
  name: 'set_account_password',
  permission: 'admin',
  fields: z.object({ id, password }),
  target: account,
  guard: 'Only on the command line, for an account that does not come through a provider.',
  consequence: 'Their sessions end, and open links to the account are revoked.',
  did: ({ after }) => `Set the password of ${String(after.name)}; ${String(after.sessionsEnded)} sessions ended.`,
  refusals: { command_line_only: () => 'Passwords of others are set on the command line alone. Nothing was changed; make a one-time link instead.', weak_password: fault, outside_account: ({ name }) => `${String(name)} signs in through the provider and has no password here. Nothing was changed.` },
  async act(tx, input, { actor }) {
    const now = await readAccount(tx, input.id);
    if (!now) return { outcome: 'refused', code: 'not_found', now: null };
    if (actor.kind !== 'cli') return { outcome: 'refused', code: 'command_line_only', now };
    const weak = passwordFault(input.password, now.name);
    if (weak !== null) return { outcome: 'refused', code: 'weak_password', now: null, facts: { fault: weak } };
    const ended = await keepPassword(tx, input.id, await hashPassword(input.password));
    return ended === undefined ? { outcome: 'refused', code: 'outside_account', now } : applied({ name: now.name }, { name: now.name, sessionsEnded: ended });
  },
});
