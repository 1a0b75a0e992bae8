/** Making and revoking the bearer tokens of product backends. */
import { z } from 'zod';
import { insertApiToken, tokenScopes } from './accounts.js';
import { accountName } from './account-actions.js';
import { defineAction, type Applied, type Snapshot, type Target } from './action.js';
import { secretSha256 } from './session-actions.js';

/** A token that is to outlive this is one that nobody looks after. */
export const MAX_TOKEN_DAYS = 3_650;

const id = z.uuid().toLowerCase();
const token = ({ id: tokenId }: { id: string }): Target => ({ kind: 'token', id: tokenId });
const applied = (before: Snapshot, after: Snapshot): Applied => ({ outcome: 'applied', before, after, changed: [], kicks: [] });

export const createToken = defineAction({
  name: 'create_token',
  permission: 'admin',
  fields: z.object({
    id, name: accountName, sha256: secretSha256,
    scopes: z.array(z.enum(tokenScopes)).min(1, 'choose at least one').transform((scopes) => [...new Set(scopes)]),
    expiresInDays: z.number().int().min(1).max(MAX_TOKEN_DAYS).nullable(),
  }),
  target: token,
  guard: 'Only while no live token has this name.',
  consequence: 'The token is shown once; only its hash is kept.',
  did: ({ after }) => `Made the API token ${String(after.name)} (${String(after.scopes)}${after.expiresInDays === null ? ', no expiry' : `, for ${String(after.expiresInDays)} days`}).`,
  refusals: { name_taken: ({ name }) => `There is a live token called ${String(name)} already. Revoke it first, or choose another name. Nothing was changed.` },
  async act(tx, input) {
    if (!await insertApiToken(tx, { ...input, sha256: Buffer.from(input.sha256, 'hex') })) return { outcome: 'refused', code: 'name_taken', now: { name: input.name } };
    return applied({ exists: false }, { name: input.name, scopes: input.scopes.join(' '), expiresInDays: input.expiresInDays });
  },
});

export const revokeToken = defineAction({
  name: 'revoke_token',
  permission: 'admin',
  fields: z.object({ id }),
  target: token,
  guard: 'Only while it is live.',
  consequence: 'Its next request is answered 401. Uploads that are being received end as they would; accepted work goes on.',
  did: ({ after }) => `Revoked the API token ${String(after.name)}.`,
  refusals: { already_revoked: ({ name }) => `The token ${String(name)} was revoked already. Nothing was changed.` },
  async act(tx, input) {
    const { rows } = await tx.query<{ name: string }>('update api_tokens set revoked_at = now() where id = $1 and revoked_at is null returning name', [input.id]);
    if (rows[0]) return applied({ name: rows[0].name, live: true }, { name: rows[0].name, live: false });
    const now = (await tx.query<{ name: string }>('select name from api_tokens where id = $1', [input.id])).rows[0];
    return now ? { outcome: 'refused', code: 'already_revoked', now: { name: now.name } } : { outcome: 'refused', code: 'not_found', now: null };
  },
});
