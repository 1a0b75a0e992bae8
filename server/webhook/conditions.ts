/**
 * What Now shows under "needs attention", as the webhook tells it. The conditions and their words come from the page's own list (handed in by
 * whoever makes the webhook); here it is only decided what is told together, under which stable code, and what stays inside: names of files
 * and apps, what people typed, what other services said.
 */
import type { NowView } from '../console/now.js';

/** One line of that list. `now`: milliseconds on the database clock. */
export interface Shown {
  /** `kind`, or `kind:what it is about`. */
  key: string;
  tone: 'stale' | 'low';
  /** Said of all of its kind ("3 leases are stale"). */
  verdict: string;
  what: string;
  why: string;
  /** Its `why` repeats what a person typed or another service said. */
  whyQuotes?: boolean;
  advice: string;
  href: string | null;
}

export type AttentionOf = (view: NowView, now: number, feed: { state: 'live' | 'polling' }) => readonly Shown[] | Promise<readonly Shown[]>;

export interface Condition {
  key: string;
  facts: Facts;
}

export interface Facts {
  kind: string;
  about: string | null;
  severity: 'alarm' | 'notice';
  what: string;
  text: string;
  path: string;
}

/** First part of the list's key → the code that receivers may rely on. */
const KINDS: Readonly<Record<string, string>> = {
  stale: 'stale_lease', stuck: 'publish_lock_stuck', uncovered: 'no_worker', newer: 'newer_worker_needed', leaving: 'capability_leaving', sweeper: 'sweep_overdue',
  breaker: 'queue_resting', paused: 'queue_paused', ttl: 'uploads_expiring', poison: 'row_kills_workers', listener: 'listener_down',
};
/** A worker that dies leaves many at once, and each heals by itself: they are told as one. */
const TOGETHER: readonly string[] = ['stale'];
/** The webhook's own trouble cannot be told by it. */
const NOT_TOLD: readonly string[] = ['webhook'];
/** Told by every process for itself (see attention.ts). */
export const LISTENER = 'listener';

export function conditionsOf(shown: readonly Shown[]): Condition[] {
  const groups = new Map<string, Shown[]>();
  for (const item of shown) groups.set(conditionKey(item), [...(groups.get(conditionKey(item)) ?? []), item]);
  return [...groups].filter(([key]) => !NOT_TOLD.includes(key)).map(([key, items]) => ({ key, facts: factsOf(key, items) }));
}

function conditionKey({ key }: Shown): string {
  const kind = key.split(':')[0]!;
  return TOGETHER.includes(kind) ? kind : key;
}

function factsOf(key: string, items: readonly Shown[]): Facts {
  const [first] = items as [Shown];
  const [kind = key, ...about] = key.split(':');
  const what = capitalised(items.length > 1 ? first.verdict : first.what);
  const why = items.length > 1 || first.whyQuotes || first.why === '' ? '' : `: ${first.why}`;
  return {
    kind: KINDS[kind] ?? kind, about: about.length > 0 ? about.join(':') : null, severity: first.tone === 'stale' ? 'alarm' : 'notice',
    what, text: `${what}${why}. ${first.advice}`, path: items.at(-1)!.href ?? '/',
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
