import type { NowView } from '../../server/console/now.js';
import { age } from './age';
import type { AttentionItem, FeedState } from './attention';
import { capitalised, count, counted, listed } from './count';

export interface VerdictPart {
  text: string;
  alarming: boolean;
}

export interface Verdict {
  tone: 'ok' | 'low' | 'stale';
  parts: VerdictPart[];
  detail: string | null;
  /** The same without ticking numbers, for a screen reader: changes only when the situation does. */
  spoken: string;
}

/** The sentence at the top of Now. `now` in milliseconds on the database clock. A page that reads nothing does not claim to know how things are. */
export function verdictOf(view: NowView, attention: readonly AttentionItem[], now: number, feed: FeedState = { state: 'live' }): Verdict {
  if (feed.state === 'offline' || feed.stale) return unknown(view, now - (feed.asOf ?? view.asOf));
  const problems = [...new Set(attention.map((item) => item.verdict))];
  const redeploy = redeploySentence(view);
  const tone = attention.some((item) => item.tone === 'stale') ? 'stale' : attention.length > 0 ? 'low' : 'ok';
  const said = capitalised(listed(problems));
  const parts: VerdictPart[] = [];
  if (redeploy) parts.push({ text: `${redeploy} `, alarming: false });
  if (said) parts.push({ text: `${said}.`, alarming: true });
  if (!said && !redeploy) return calm(view, now);
  return { tone, parts, detail: [tally(view, now), leavingSentence(view, now), drainedSentence(view)].filter(Boolean).join(' '), spoken: parts.map((part) => part.text).join('') };
}

function unknown(view: NowView, silentMs: number): Verdict {
  const text = `Not known now: nothing could be read for ${age(silentMs)}.`;
  return { tone: 'stale', parts: [{ text, alarming: true }], detail: `When last read: ${tallyWords(view, view.asOf)}.`, spoken: 'Not known now: nothing can be read.' };
}

function calm(view: NowView, now: number): Verdict {
  if (!view.queues.some((queue) => queue.used)) {
    return { tone: 'ok', parts: [{ text: 'Nothing here yet, and all is well.', alarming: false }], detail: null, spoken: 'Nothing here yet.' };
  }
  const text = `All clear: ${tallyWords(view, now)}`;
  return { tone: 'ok', parts: [{ text, alarming: false }], detail: drainedSentence(view), spoken: 'All clear.' };
}

function tally(view: NowView, now: number): string {
  return `${capitalised(tallyWords(view, now))}.`;
}

function tallyWords(view: NowView, now: number): string {
  const total = (pick: 'running' | 'stale' | 'queued') => view.queues.reduce((sum, queue) => sum + queue[pick], 0);
  const oldest = view.queues.reduce<number | null>((since, { oldestSince }) => (oldestSince === null ? since : Math.min(since ?? oldestSince, oldestSince)), null);
  const words = `${count(total('running'))} running, ${count(total('stale'))} stale, ${count(total('queued'))} queued`;
  return oldest === null ? words : `${words}, oldest ${age(now - oldest)}`;
}

/** "Redeploy rolling: 2 of 3 workers are on v43." */
function redeploySentence({ redeploy, versions }: NowView): string | null {
  if (!redeploy) return null;
  const all = versions.reduce((sum, version) => sum + alive(version), 0);
  const there = versions.find((version) => version.version === redeploy.toVersion);
  return `Redeploy rolling: ${there ? alive(there) : 0} of ${counted(all, 'worker')} ${all === 1 ? 'is' : 'are'} on ${redeploy.toVersion}.`;
}

/** A web process of an older version that feeds this page knows nothing of those drained. */
export function alive({ live, drained = 0, draining }: NowView['versions'][number]): number {
  return live + drained + draining;
}

/** "1 worker of v42 is drained by an operator and takes nothing until it is resumed." */
function drainedSentence({ versions }: NowView): string | null {
  const drained = versions.filter((version) => version.drained);
  if (drained.length === 0) return null;
  return drained.map(({ version, drained: n = 0 }) => `${counted(n, 'worker')} of ${version} ${n === 1 ? 'is' : 'are'} drained by an operator and ${n === 1 ? 'takes nothing until it is' : 'take nothing until they are'} resumed.`).join(' ');
}

/** "v42 still holds 3 leases and is stopped in 14 s." */
function leavingSentence({ redeploy, versions, boards }: NowView, now: number): string | null {
  // The board counts the leases of its dead processes too.
  const held = ({ version, leases }: NowView['versions'][number]) => boards.find((board) => board.redeploy.role === 'worker' && board.redeploy.fromVersion === version)?.oldHolds ?? leases;
  const leaving = versions.filter((version) => version.draining > 0 && (!redeploy || version.version !== redeploy.toVersion));
  if (leaving.length === 0) return null;
  return leaving.map((one) => {
    const { version, killDeadlineAt } = one;
    const leases = held(one);
    const end = killDeadlineAt === null ? 'drains' : killDeadlineAt > now ? `is stopped in ${age(killDeadlineAt - now)}` : 'is past its deadline';
    return `${version} ${leases === 0 ? 'holds no more leases' : `still holds ${counted(leases, 'lease')}`} and ${end}.`;
  }).join(' ');
}
