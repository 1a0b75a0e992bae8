/** DELETE /api/users/:userId: destroys what is known of a user, in one transaction (sources/user-erasure.ts says what). */
import type pg from 'pg';
import { eraseUserData, type Erasure } from '../sources/user-erasure.js';
import { readId } from './ids.js';
import { Problem } from './problem.js';
import { withUserLock } from './user-lock.js';

export async function eraseUser(pool: pg.Pool, user: unknown): Promise<Erasure> {
  const userId = readId(user, 'the user id in the path');
  return withUserLock(pool, userId, async (tx) => {
    const answer = await eraseUserData(tx, userId);
    if (answer === 'work_running') throw new Problem(409, 'work_running', 'Work of this user is still waiting or running. Nothing was erased; wait until it has ended, or have an operator cancel it, and ask again.');
    return answer;
  });
}
