import type { Snapshot } from '../../server/operations/action.js';
import { age, duration } from './age';

export interface ActionWords {
  /** On buttons and in menus. */
  label: string;
  /** The card's question, around the name of what it is about. */
  ask: readonly [string, string];
  /** Past tense, for the audit and timelines. */
  did: string;
}

const words: Readonly<Record<string, ActionWords>> = {
  release: { label: 'Release lease', ask: ['Release the stale lease of', '?'], did: 'released the stale lease' },
  force_release: { label: 'Force release', ask: ['Take the lease of', 'from its holder?'], did: 'took the lease by force' },
  rekick: { label: 'Re-kick', ask: ['Set', 'going again?'], did: 're-kicked it' },
  cancel: { label: 'Cancel it', ask: ['Cancel', '?'], did: 'cancelled it' },
  clear_lock: { label: 'Clear stuck lock', ask: ['Clear the stuck publish lock of', '?'], did: 'cleared the stuck lock' },
  reset_sources: { label: 'Reset sources', ask: ['Unlink all sources of session', '?'], did: 'reset the session’s sources' },
  erase_user: { label: 'Erase user’s data', ask: ['Erase all data of user', 'for good?'], did: 'erased the user’s data' },
  drain: { label: 'Drain', ask: ['Drain', '?'], did: 'drained the worker' },
  resume: { label: 'Resume', ask: ['Let', 'work again?'], did: 'resumed the worker' },
  pause_queue: { label: 'Pause queue', ask: ['Pause', '?'], did: 'paused the queue' },
  resume_queue: { label: 'Resume queue', ask: ['Resume', '?'], did: 'resumed the queue' },
  reveal: { label: 'Reveal text', ask: ['Reveal the text of report', '?'], did: 'revealed its text' },
  create_account: { label: 'Add person', ask: ['Add', '?'], did: 'added the account' },
  change_role: { label: 'Change role', ask: ['Change the role of', '?'], did: 'changed the role' },
  disable_account: { label: 'Disable', ask: ['Disable', '?'], did: 'disabled the account' },
  enable_account: { label: 'Enable again', ask: ['Enable', 'again?'], did: 'enabled the account' },
  change_own_password: { label: 'Change own password', ask: ['Change the password of', '?'], did: 'changed their password' },
  set_account_password: { label: 'Set password', ask: ['Set the password of', '?'], did: 'set the password' },
  revoke_session: { label: 'End session', ask: ['End the session of', '?'], did: 'ended a session' },
  sign_out_everywhere: { label: 'Sign out everywhere', ask: ['Sign', 'out of every other session?'], did: 'signed out everywhere' },
  create_signin_link: { label: 'Make sign-in link', ask: ['Make a sign-in link for', '?'], did: 'made a sign-in link' },
  revoke_signin_link: { label: 'Revoke link', ask: ['Revoke the sign-in link of', '?'], did: 'revoked a sign-in link' },
  create_token: { label: 'Make API token', ask: ['Make the token', '?'], did: 'made an API token' },
  revoke_token: { label: 'Revoke token', ask: ['Revoke the API token', '?'], did: 'revoked an API token' },
};

/** An action without words of its own is called by its name. */
export function actionWords(action: string): ActionWords {
  if (Object.hasOwn(words, action)) return words[action]!;
  const name = action.replaceAll('_', ' ');
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { label, ask: [`${label}:`, '?'], did: `did: ${name}` };
}

const refusals: Readonly<Record<string, string>> = {
  lease_valid: 'lease valid', already_released: 'already released', finished: 'it had ended', reclaimed: 'taken anew meanwhile', input_gone: 'input gone', running: 'running',
  cap_reached: 'the user’s cap is reached', analysis_in_progress: 'being analysed already', queue_paused: 'the queue is paused', holder_alive: 'holder alive', already_clear: 'already clear',
  analysis_running: 'analysis running', already_draining: 'already draining', not_draining: 'not draining', gone: 'gone', shutting_down: 'shutting down', serves_pages: 'takes no work', work_running: 'work running',
  already_paused: 'already paused', already_running: 'already running', not_found: 'not found', not_allowed: 'not allowed', read_only: 'read-only', invalid_input: 'not readable',
  reason_required: 'no reason given', confirmation_mismatch: 'not confirmed', busy: 'busy', outcome_unknown: 'outcome unknown', not_tried: 'not tried',
};

/** A refusal's code in a word or two ("lease valid"). */
export function refusalWord(code: string): string {
  return Object.hasOwn(refusals, code) ? refusals[code]! : code.replaceAll('_', ' ');
}

export interface SnapshotFact {
  key: string;
  name: string;
  text: string;
}

const names: Readonly<Record<string, string>> = {
  state: 'State', token: 'Token', attempt: 'Failures', lostLeases: 'Lost leases', worker: 'Holder', leaseLeft: 'Lease', silent: 'Last beat', held: 'Taken', ended: 'Ended', errorCode: 'Error',
  publishNo: 'Publish', rows: 'Rows', offered: 'Offered again', cancelRequested: 'Cancel asked for', linked: 'Linked sources', unlinked: 'Unlinked', paused: 'Paused', by: 'By', reason: 'Reason', seconds: 'Since',
  label: 'Worker', drainedBy: 'Drained by', stopped: 'Stopped', live: 'Alive',
};

const ago = (seconds: number) => `${age(seconds * 1000)} ago`;

/** Seconds, as the database measured them when it looked; nothing here ticks. */
const values: Readonly<Record<string, (value: number) => string>> = {
  leaseLeft: (left) => (left >= 0 ? `valid for ${age(left * 1000)}` : `ended ${ago(-left)}`), silent: ago, held: ago, ended: ago, seconds: ago,
};

/** Told by another fact, or of no meaning to a person (a row's version; a worker's is a word). */
function isQuiet([key, value]: [string, Snapshot[string]]): boolean {
  return value === null || key === 'workerVersion' || (key === 'version' && typeof value === 'number');
}

/** A snapshot as facts, in its own order. Nulls are left out: nothing is known, or nothing is there. */
export function factsOf(snapshot: Snapshot | null): SnapshotFact[] {
  const told = Object.entries(snapshot ?? {}).filter((entry) => !isQuiet(entry));
  return told.map(([key, value]) => ({ key, name: nameOf(key), text: textOf(key, value!, snapshot!) }));
}

export interface Change {
  key: string;
  name: string;
  before: string | null;
  after: string | null;
}

/** What differs between two snapshots: only what the later one speaks of; ages are no changes. */
export function changesOf(before: Snapshot | null, after: Snapshot | null): Change[] {
  const was = new Map(factsOf(before).map((fact) => [fact.key, fact.text]));
  const is = new Map(factsOf(after).map((fact) => [fact.key, fact.text]));
  const keys = Object.keys(after ?? {}).filter((key) => !Object.hasOwn(values, key) && (was.has(key) || is.has(key)) && was.get(key) !== is.get(key));
  return keys.map((key) => ({ key, name: nameOf(key), before: was.get(key) ?? null, after: is.get(key) ?? null }));
}

function nameOf(key: string): string {
  if (Object.hasOwn(names, key)) return names[key]!;
  const spaced = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

function textOf(key: string, value: string | number | boolean, snapshot: Snapshot): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Object.hasOwn(values, key) ? values[key]!(value) : key.endsWith('Ms') ? duration(value) : value.toLocaleString('en-GB');
  if (key === 'token') return `#${value}`;
  return key === 'worker' && snapshot.workerVersion ? `${value} (${String(snapshot.workerVersion)})` : value;
}
