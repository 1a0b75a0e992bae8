import type { RowView } from '../../server/console/row-view.js';
import { age } from './age';
import { counted } from './count';
import { stateLooks } from './state';

/** The actions on a row, in the order in which they are offered: what undoes least comes first. */
export const rowActionNames = ['release', 'rekick', 'cancel', 'clear_lock', 'force_release'] as const;
export type RowAction = (typeof rowActionNames)[number];

export interface Possible {
  possible: boolean;
  /** Why it is, or is not. */
  why: string;
}

/** Who is asking, as far as buttons must know. The server decides anew. */
export interface Rights {
  role: string;
  readOnly: boolean;
  /** The least role by action. */
  permissions: Readonly<Record<string, string>>;
  publishDeadAfterMs: number;
}

const ranks: Readonly<Record<string, number>> = { viewer: 0, operator: 1, admin: 2 };

/** Why this person may not at all, or null. */
export function barred({ role, readOnly, permissions }: Rights, action: string): string | null {
  if (readOnly) return 'This console is read-only (READ_ONLY): act on the command line.';
  const needed = permissions[action] ?? 'admin';
  return ranks[role]! >= ranks[needed]! ? null : `Needs the role ${needed}; yours is ${role}.`;
}

export function rowActionsOf(table: string): RowAction[] {
  return rowActionNames.filter((name) => name !== 'clear_lock' || table === 'deployments');
}

/**
 * Whether the action's guard holds, as far as the row itself tells: words for buttons and lists. The card asks the database, which decides.
 * `now` in milliseconds on the database clock.
 */
export function possibleNow(action: RowAction, row: RowView, now: number, { publishDeadAfterMs }: Pick<Rights, 'publishDeadAfterMs'>): Possible {
  switch (action) {
    case 'release': return release(row, now);
    case 'force_release': return force(row, now);
    case 'rekick': return rekick(row, now);
    case 'cancel': return cancel(row);
    case 'clear_lock': return clearLock(row, now, publishDeadAfterMs);
  }
}

const yes = (why: string): Possible => ({ possible: true, why });
const no = (why: string): Possible => ({ possible: false, why });

function release(row: RowView, now: number): Possible {
  if (row.worker === null) return no(unheld(row));
  if (row.leaseExpiresAt !== null && row.leaseExpiresAt >= now) return no(`lease valid for ${age(row.leaseExpiresAt - now)}, last beat ${beat(row, now)}`);
  return yes(`lease ended ${age(now - (row.leaseExpiresAt ?? now))} ago, last beat ${beat(row, now)}`);
}

function force(row: RowView, now: number): Possible {
  if (row.worker === null) return no(unheld(row));
  const left = (row.leaseExpiresAt ?? now) - now;
  return yes(left < 0 ? `${holder(row)} has let its lease run out: releasing it is enough` : `takes it from ${holder(row)}, whose lease is valid for ${age(left)}`);
}

function unheld(row: RowView): string {
  return hasEnded(row) ? ended(row) : 'nobody holds it';
}

function rekick(row: RowView, now: number): Possible {
  if (row.worker !== null) return no(`${holder(row)} is on it`);
  if (row.state === 'awaiting') return no('it awaits its own parts: re-kick the part that is stuck');
  if (hasEnded(row)) return again[row.table]?.(row) ?? no(ended(row));
  return yes(row.runAfter > now ? `offers it at once, instead of in ${age(row.runAfter - now)}` : 'offers it to the workers once more');
}

/** What has ended, by queue: as the server decides (server/operations/rekick.ts), save for what only it can look up. */
const again: Readonly<Record<string, (row: RowView) => Possible>> = {
  parse_items: (row) => row.state === 'succeeded' ? no(ended(row)) : no('its uploaded bytes were erased when it ended: ask for the upload again'),
  parse_jobs(row) {
    if (row.state === 'succeeded') return no(ended(row));
    const read = Number(row.columns.succeeded_children);
    return read === 0 ? no('none of its files could be read, and their bytes are erased: ask for the upload again') : yes(`queues it again: ${counted(read, 'file was', 'files were')} read`);
  },
  analysis_jobs(row) {
    const unchecked = Number(row.columns.total_children) - Number(row.columns.succeeded_children);
    if (unchecked > 0) return yes(`checks ${counted(unchecked, 'citation')} again that could not be checked, if the cited sources are still linked`);
    return row.state === 'succeeded' || Number(row.columns.total_children) > 0 ? no('nothing of it failed') : yes('queues it again, if its thesis is still stored');
  },
  job_citations: (row) => row.state === 'succeeded' ? no(ended(row)) : yes('checks it again, if its source is still linked'),
  deployments: (row) => row.state === 'live' ? no('nothing of it failed: it is live') : yes('starts the next publish of this app'),
};

function cancel(row: RowView): Possible {
  if (hasEnded(row)) return no(ended(row));
  if (row.table === 'deployments') return yes('asks the publish to end; its lock is held until its build has');
  const open = Number(row.columns.open_children ?? 0);
  const parts = open > 0 ? `ends it with ${counted(open, 'open part')}` : 'ends it';
  return yes(row.worker === null ? parts : `${parts}; ${holder(row)} is told to stop`);
}

function clearLock(row: RowView, now: number, deadAfterMs: number): Possible {
  if (row.state !== 'building') return no('the lock is free');
  const silent = now - (row.heartbeatAt ?? now);
  if (silent <= deadAfterMs) return no(`the publish is alive: last beat ${age(silent)} ago (stuck after ${age(deadAfterMs)} of silence)`);
  return yes(`nothing was heard of it for ${age(silent)}`);
}

export function hasEnded({ state }: Pick<RowView, 'state'>): boolean {
  return state === 'succeeded' || state === 'live' || state === 'failed' || state === 'cancelled';
}

function ended(row: RowView): string {
  return `it has ended (${stateLooks[row.state].word})`;
}

function holder({ worker }: RowView): string {
  return worker ? `${worker.label} (${worker.version})` : 'nobody';
}

function beat({ heartbeatAt }: RowView, now: number): string {
  return heartbeatAt === null ? 'unknown' : `${age(now - heartbeatAt)} ago`;
}
