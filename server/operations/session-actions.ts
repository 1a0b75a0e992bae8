/** Ending sessions, making and revoking sign-in links. Everyone may end their own sessions; admins anybody's. */
import { z } from 'zod';
import { defineAction, mayAct, type Actor, type Applied, type Snapshot, type Target } from './action.js';
import { insertSigninLink, LINK_HOURS } from './accounts.js';

const id = z.uuid().toLowerCase();
/** The SHA-256 of a secret, in hex: the secret itself goes to whoever asked and nowhere else. */
export const secretSha256 = z.string().regex(/^[0-9a-f]{64}$/);

const account = ({ id: accountId }: { id: string }): Target => ({ kind: 'account', id: accountId });
const link = ({ id: linkId }: { id: string }): Target => ({ kind: 'link', id: linkId });
const applied = (before: Snapshot, after: Snapshot): Applied => ({ outcome: 'applied', before, after, changed: [], kicks: [] });

/** Whose sessions the actor may end; null for everybody's. What is not theirs is answered as if it did not exist. */
const onlyOf = (actor: Actor) => mayAct(actor.role, 'admin') ? null : actor.id;

export const revokeSession = defineAction({
  name: 'revoke_session',
  permission: 'viewer',
  fields: z.object({ id }),
  target: (input): Target => ({ kind: 'system', id: `session ${input.id}` }),
  guard: 'Only while the session is open, and yours unless you are an admin.',
  consequence: 'Its next request is refused; open pages of it close within half a minute.',
  did: ({ after }) => `Ended a session of ${String(after.name)}.`,
  refusals: { already_ended: () => 'This session had ended already. Nothing was changed.' },
  async act(tx, input, { actor }) {
    const { rows } = await tx.query<{ name: string }>(
      `update operator_sessions s set revoked_at = now() from operators o
        where s.id = $1 and o.id = s.operator_id and s.revoked_at is null and s.expires_at > now() and ($2::uuid is null or s.operator_id = $2) returning o.name`, [input.id, onlyOf(actor)]);
    if (rows[0]) return applied({ name: rows[0].name, open: true }, { name: rows[0].name, open: false });
    const { rowCount } = await tx.query('select 1 from operator_sessions where id = $1 and ($2::uuid is null or operator_id = $2)', [input.id, onlyOf(actor)]);
    return { outcome: 'refused', code: rowCount === 1 ? 'already_ended' : 'not_found', now: null };
  },
});

export const signOutEverywhere = defineAction({
  name: 'sign_out_everywhere',
  permission: 'viewer',
  fields: z.object({ id, keep: id.optional() }),
  target: account,
  guard: 'Only sessions that are open, of your own account unless you are an admin.',
  consequence: 'Every other browser is signed out with its next request; open pages close within half a minute.',
  did: ({ after }) => `Signed ${String(after.name)} out of ${String(after.sessionsEnded)} ${after.sessionsEnded === 1 ? 'session' : 'sessions'}.`,
  refusals: { nothing_open: ({ name }) => `${String(name)} has no other open session. Nothing was changed.` },
  async act(tx, input, { actor }) {
    const { rows } = await tx.query<{ name: string }>('select name from operators where id = $1 and ($2::uuid is null or id = $2)', [input.id, onlyOf(actor)]);
    const name = rows[0]?.name;
    if (name === undefined) return { outcome: 'refused', code: 'not_found', now: null };
    const { rowCount } = await tx.query(
      'update operator_sessions set revoked_at = now() where operator_id = $1 and revoked_at is null and expires_at > now() and id is distinct from $2', [input.id, input.keep ?? null]);
    return rowCount ? applied({ name, open: rowCount }, { name, sessionsEnded: rowCount }) : { outcome: 'refused', code: 'nothing_open', now: { name } };
  },
});

export const createLink = defineAction({
  name: 'create_signin_link',
  permission: 'admin',
  fields: z.object({ id, linkId: id, sha256: secretSha256 }),
  target: account,
  guard: 'Only for an enabled account.',
  consequence: `A link that signs this person in, once, within ${LINK_HOURS} hours. Whoever has it is them: send it where only they read.`,
  did: ({ after }) => `Made a sign-in link for ${String(after.name)}.`,
  refusals: { disabled: ({ name }) => `${String(name)} is disabled. Nothing was changed; enable the account first.` },
  async act(tx, input, { actor }) {
    const { rows } = await tx.query<{ name: string; disabled: boolean }>('select name, disabled_at is not null as disabled from operators where id = $1 for share', [input.id]);
    const owner = rows[0];
    if (!owner) return { outcome: 'refused', code: 'not_found', now: null };
    if (owner.disabled) return { outcome: 'refused', code: 'disabled', now: { name: owner.name } };
    await insertSigninLink(tx, { id: input.linkId, operatorId: input.id, sha256: Buffer.from(input.sha256, 'hex'), createdBy: actor.name });
    return applied({ name: owner.name }, { name: owner.name, link: input.linkId });
  },
});

export const revokeLink = defineAction({
  name: 'revoke_signin_link',
  permission: 'admin',
  fields: z.object({ id }),
  target: link,
  guard: 'Only while nobody has used it and it has not expired.',
  consequence: 'Whoever opens the link is told that it was revoked.',
  did: ({ after }) => `Revoked a sign-in link of ${String(after.name)}.`,
  refusals: {
    used: ({ name }) => `This link was used already. Nothing was changed; end the sessions of ${String(name)} if it was not them.`,
    already_revoked: () => 'This link was revoked already. Nothing was changed.',
    expired: () => 'This link has expired by itself. Nothing was changed.',
  },
  async act(tx, input) {
    const { rows } = await tx.query<{ name: string }>(
      `update signin_links l set revoked_at = now() from operators o
        where l.id = $1 and o.id = l.operator_id and l.used_at is null and l.revoked_at is null and l.expires_at > now() returning o.name`, [input.id]);
    if (rows[0]) return applied({ name: rows[0].name, open: true }, { name: rows[0].name, open: false });
    const now = (await tx.query<{ name: string; used: boolean; revoked: boolean }>(
      'select o.name, l.used_at is not null as used, l.revoked_at is not null as revoked from signin_links l join operators o on o.id = l.operator_id where l.id = $1', [input.id])).rows[0];
    if (!now) return { outcome: 'refused', code: 'not_found', now: null };
    return { outcome: 'refused', code: now.used ? 'used' : now.revoked ? 'already_revoked' : 'expired', now: { name: now.name } };
  },
});
