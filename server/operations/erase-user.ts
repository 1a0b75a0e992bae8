/** Destroys what is known of a user, at the user's request. Nothing of it can be brought back. */
import type pg from 'pg';
import { z } from 'zod';
import { lockUser } from '../api/admission.js';
import { countUserData, eraseUserData, hasOpenWork, type Erased } from '../sources/user-erasure.js';
import { defineAction, type Effect, type Snapshot } from './action.js';
import { whoWasFirst } from './audit.js';
import { outsideId } from './reset-sources.js';
import { byWhom } from './row-now.js';

const counted = (erased: Erased): Snapshot => ({ ...erased });
/** Whether there was ever anything. */
async function nothingLeft(tx: pg.PoolClient, userId: string): Promise<Effect<'already_erased'>> {
  const first = await whoWasFirst(tx, userId, ['erase_user']);
  return first.firstBy === undefined ? { outcome: 'refused', code: 'not_found', now: null } : { outcome: 'refused', code: 'already_erased', now: null, facts: first };
}

const isEmpty = (erased: Erased) => Object.values(erased).every((n) => n === 0);

export const eraseUserAction = defineAction({
  name: 'erase_user',
  permission: 'admin',
  fields: z.object({ userId: outsideId }),
  target: ({ userId }) => ({ kind: 'user', id: userId, userId }),
  guard: 'Only while nothing of this user waits or runs.',
  consequence: 'Documents, chunks, claims, verdicts, e-mail and file names of this user are destroyed for good; what stays is counts without a name, and this audit entry.',
  confirmation: ({ userId }) => userId,
  did: ({ after }) => `Erased the user's data: ${String(after.documents)} documents (${String(after.chunks)} chunks), ${String(after.uploads)} uploads (${String(after.files)} files), ${String(after.analyses)} analyses (${String(after.citations)} citations).`,
  refusals: {
    already_erased: (facts) => `There is no data of this user: it was erased${byWhom(facts)}. Nothing was changed, and nothing needs to be.`,
    work_running: () => 'Work of this user is still waiting or running. Nothing was erased; wait until it has ended, or cancel it first.',
  },
  async act(tx, { userId }) {
    await lockUser(tx, userId);
    const before = await countUserData(tx, userId);
    if (isEmpty(before)) return nothingLeft(tx, userId);
    const answer = await eraseUserData(tx, userId);
    if (answer === 'work_running') return { outcome: 'refused', code: 'work_running', now: counted(before) };
    return { outcome: 'applied', before: counted(before), after: counted(answer.erased), changed: answer.changed, kicks: [] };
  },
  async preview(tx, { userId }) {
    const before = await countUserData(tx, userId);
    if (isEmpty(before)) return nothingLeft(tx, userId);
    if (await hasOpenWork(tx, userId)) return { outcome: 'refused', code: 'work_running', now: counted(before) };
    return { outcome: 'applied', before: counted(before), after: counted(before), changed: [], kicks: [] };
  },
});
