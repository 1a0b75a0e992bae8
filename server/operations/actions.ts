/** Every guarded action, by name. Whatever acts for a person is in this list and goes through operate(). */
import { changeRole, disableAccount, enableAccount } from './account-actions.js';
import type { AnyAction } from './action.js';
import { cancelRow } from './cancel-row.js';
import { clearLock } from './clear-lock.js';
import { eraseUserAction } from './erase-user.js';
import { pauseQueueAction, resumeQueueAction } from './queue-pauses.js';
import { rekick } from './rekick.js';
import { forceRelease, releaseLease } from './release-lease.js';
import { resetSessionSources } from './reset-sources.js';
import { revealText } from './reveal-text.js';
import { revokeLink, revokeSession, signOutEverywhere } from './session-actions.js';
import { revokeToken } from './token-actions.js';
import { drainWorker, resumeWorker } from './worker-orders.js';

const all = [
  releaseLease, forceRelease, rekick, cancelRow, clearLock, resetSessionSources, drainWorker, resumeWorker, pauseQueueAction, resumeQueueAction, eraseUserAction, revealText,
  changeRole, disableAccount, enableAccount, revokeSession, signOutEverywhere, revokeLink, revokeToken,
] as const;

export type ActionName = (typeof all)[number]['name'];

export const actions: readonly AnyAction[] = all;

/** Undefined for a name that is not in the list (also the allow-list for anything that arrives from outside). */
export function actionByName(name: unknown): AnyAction | undefined {
  return actions.find((action) => action.name === name);
}
