import type { NowView } from '../../server/console/now.js';
import type { RowView } from '../../server/console/row-view.js';
import type { Order } from '~/acting';
import { age } from './age';
import { capitalised, counted, listed } from './count';
import { queuePath } from './filters';
import { orderOf } from './row-order';
import { redeployPath } from './redeploy-words';

export interface AttentionItem {
  key: string;
  tone: 'stale' | 'low';
  /** What the verdict sentence says of it ("2 leases are stale"). Items of one kind share it. */
  verdict: string;
  /** A name from outside (a file), if it has one: shown isolated. */
  subject: string | null;
  what: string;
  why: string;
  /** `why` repeats what a person typed or another service said: it is for this page, not for what is told outside (server/webhook). */
  whyQuotes?: true;
  /** What a person should do, or that nothing needs to be done. */
  advice: string;
  /** When it heals by itself or next moves, counted down. */
  timer: { label: string; at: number } | null;
  href: string | null;
  /** What a person may do about it from here. */
  order?: Order;
}

/** How the page is fed: only the live connection knows. */
export interface FeedState {
  state: 'live' | 'catching_up' | 'polling' | 'offline';
  /** Nothing was read for so long that the page may be wrong. */
  stale?: boolean;
  /** The last successful read (database clock, ms); now if not given. */
  asOf?: number;
}

/** A sweep later than so many of its intervals is overdue. */
const OVERDUE_INTERVALS = 3;

/** What needs a person, worst first. `now` in milliseconds on the database clock. */
export function attentionOf(view: NowView, now: number, feed: FeedState = { state: 'live' }): AttentionItem[] {
  const items = [
    ...stuckLocks(view, now), ...staleLeases(view, now, feed.asOf ?? now), ...uncovered(view), ...tooNew(view, now), ...leavingGaps(view), ...sweeper(view, now, feed.asOf ?? now), ...breakers(view, now), ...paused(view, now),
    ...nearTtl(view), ...poison(view, now), ...listener(feed), ...webhook(view, now),
  ];
  return items.sort((a, b) => (a.tone === b.tone ? 0 : a.tone === 'stale' ? -1 : 1));
}

export function nextSweepAt(sweep: NowView['sweep']): number | null {
  return sweep.lastRunAt === null ? null : sweep.lastRunAt + sweep.intervalSeconds * 1000;
}

export function subjectOf(row: RowView): string | null {
  const name = row.columns.filename ?? row.columns.slug;
  return typeof name === 'string' ? name : null;
}

function staleLeases(view: NowView, now: number, readAt: number): AttentionItem[] {
  const total = view.queues.reduce((sum, queue) => sum + queue.stale, 0);
  const verdict = total === 1 ? 'one lease is stale' : `${counted(Math.max(total, view.staleRows.length), 'lease')} are stale`;
  const overdue = sweepIsOverdue(view, readAt);
  const at = overdue ? null : nextSweepAt(view.sweep);
  const items = view.staleRows.filter((row) => row.leaseExpiresAt !== null && row.leaseExpiresAt < now).map((row): AttentionItem => ({
    key: `stale:${row.id}`, tone: 'stale', verdict, subject: subjectOf(row), what: `${nounOf(view, row)} lost its worker`,
    why: `lease ended ${age(now - row.leaseExpiresAt!)} ago · ${holderWords(row)} silent for ${age(now - (row.heartbeatAt ?? now))}`,
    advice: overdue ? 'The sweep that gives it back is overdue: release it, and see why the sweep does not run.' : 'Nothing to do: the sweep gives it back, and another worker takes it. Look at the worker if this repeats.',
    timer: at === null ? null : { label: 'sweep', at }, href: rowPath(view, row), order: orderOf('release', row, slugOf(view, row), nounOf(view, row)),
  }));
  return withRest(items, total, { key: 'stale:rest', href: queuePath(slugOf(view, view.staleRows[0]), { states: ['stale'] }) });
}

function stuckLocks(view: NowView, now: number): AttentionItem[] {
  const { length } = view.stuckLocks;
  const verdict = length === 1 ? 'one publish lock is stuck' : `${counted(length, 'publish lock')} are stuck`;
  return view.stuckLocks.filter((lock) => lock.reclaimableAt < now).map(({ row, publishedAt, refused }) => ({
    key: `stuck:${row.id}`, tone: 'stale', verdict, subject: String(row.columns.slug), what: 'publish lock is stuck',
    why: `building for ${age(now - publishedAt)} · last beat ${age(now - (row.heartbeatAt ?? now))} ago · ${refused === 0 ? 'nobody' : counted(refused, 'caller')} refused meanwhile`,
    advice: 'The next publish of this app takes the lock over. Look at the workers that publish, and at the hosting, if this repeats.',
    timer: null, href: `/deployments/${row.id}`, order: orderOf('clear_lock', row, 'deployments', 'deployment'),
  }));
}

function withRest(items: AttentionItem[], total: number, rest: { key: string; href: string }): AttentionItem[] {
  const last = items.at(-1);
  if (!last || total <= items.length) return items;
  return [...items, { ...last, ...rest, order: undefined, subject: null, what: `${counted(total - items.length, 'more lease')} like these`, why: '', advice: 'Open the list of stale rows.' }];
}

/** Once a capability, however many queues need it. */
function uncovered(view: NowView): AttentionItem[] {
  const missing = [...new Set(view.queues.filter((queue) => queue.used && !view.capabilities.includes(queue.capability)).map((queue) => queue.capability))];
  return missing.map((capability) => {
    const mine = view.queues.filter((queue) => queue.capability === capability);
    const waiting = mine.reduce((sum, queue) => sum + queue.queued, 0);
    const drained = (view.drainedCapabilities ?? []).includes(capability);
    const who = drained ? `every worker that can ${capabilityWords(capability)} is drained` : `no live worker can ${capabilityWords(capability)}`;
    return {
      key: `uncovered:${capability}`, tone: 'stale', verdict: who, subject: null, what: `${capitalised(who)}${drained ? ' by an operator' : ''}: nobody takes this work`,
      why: `${listed(mine.map((queue) => queue.title))} · ${counted(waiting, 'row')} ${waiting === 1 ? 'waits' : 'wait'}`,
      advice: `${drained ? 'Resume one on Workers, or start another' : 'Start a worker'} that takes “${capability}” (npm run worker). Nothing is lost meanwhile.`, timer: null, href: '/workers',
    };
  });
}

/** Workers live, but each is too old for these rows. Where nobody takes the capability at all, that is said instead. */
function tooNew(view: NowView, now: number): AttentionItem[] {
  return view.newerWaits.filter(({ capability }) => view.capabilities.includes(capability)).map(({ table, slug, noun, kind, schemaVersion, rows, oldestSince }) => {
    const known = view.knownKinds[table]?.[kind];
    const one = rows === 1;
    return {
      key: `newer:${slug}:${kind}:${schemaVersion}`, tone: 'low', verdict: `${atLeast(rows, noun)} ${one ? 'waits' : 'wait'} for a newer worker`, subject: null,
      what: `${atLeast(rows, noun)} ${one ? 'waits' : 'wait'} for a newer worker`,
      why: `kind “${kind}”, schema version ${schemaVersion} · live workers know ${known === undefined ? 'nothing of this kind' : `it up to version ${known}`} · oldest waits ${age(now - oldestSince)}`,
      advice: `Finish the redeploy, or start a worker of the version that knows it: it takes ${one ? 'it' : 'them'} at once. Nothing is charged and no upload expires meanwhile.`,
      timer: null, href: queuePath(slug, { states: ['queued'] }),
    };
  });
}

/** Said before anyone notices: while the old version drains it still does what nobody will do after it. */
function leavingGaps({ boards }: NowView): AttentionItem[] {
  return boards.flatMap(({ redeploy: { id, fromVersion, toVersion }, onlyOld }) => onlyOld.map((capability): AttentionItem => ({
    key: `leaving:${id}:${capability}`, tone: 'low', verdict: `only ${fromVersion} can ${capabilityWords(capability)}`, subject: null,
    what: `Only ${fromVersion} can ${capabilityWords(capability)}, and it is leaving`, why: `no live process of ${toVersion} advertises “${capability}”`,
    advice: `Start a process of ${toVersion} with this capability before ${fromVersion} has ended. What waits meanwhile is not lost.`, timer: null, href: redeployPath(id),
  })));
}

/** The server looks at the front of a queue only (server/console/now-gaps.ts). */
function atLeast(rows: number, noun: string): string {
  return rows > 1_000 ? `1,000+ ${noun}s` : counted(rows, noun);
}

/** Judged as of the last read: whether it has run since is not known. */
function sweepIsOverdue({ sweep, versions, queues }: NowView, readAt: number): boolean {
  if (sweep.lastRunAt === null) return versions.length > 0 && queues.some((queue) => queue.used);
  return readAt - sweep.lastRunAt > OVERDUE_INTERVALS * sweep.intervalSeconds * 1000;
}

function sweeper(view: NowView, now: number, readAt: number): AttentionItem[] {
  if (!sweepIsOverdue(view, readAt)) return [];
  const { lastRunAt, intervalSeconds } = view.sweep;
  return [{
    key: 'sweeper', tone: 'stale', verdict: 'the sweep is overdue', subject: null, what: 'The sweep is overdue',
    why: lastRunAt === null ? 'it has never run' : `last ran ${age(now - lastRunAt)} ago, expected every ${age(intervalSeconds * 1000)}`,
    advice: 'Leases of dead workers stay held until it runs. Run it by hand: npx leaseboard sweep.', timer: null, href: '/workers',
  }];
}

function breakers(view: NowView, now: number): AttentionItem[] {
  return view.queues.flatMap(({ slug, title, breaker }) => (breaker ? [{
    key: `breaker:${slug}`, tone: 'low' as const, verdict: `${title} rests after an outage`, subject: null, what: `${title} rests: a service outside is down`,
    why: `${breaker.reason} · ${counted(breaker.failures, 'failure')} in ${age(now - breaker.openedAt)}`, whyQuotes: true as const,
    advice: 'Rows wait uncharged and are tried again by themselves. Check the service if this lasts.',
    timer: { label: 'next try', at: breaker.retryAt }, href: queuePath(slug, { states: ['queued'] }),
  }] : []));
}

function paused(view: NowView, now: number): AttentionItem[] {
  return view.queues.flatMap((queue) => (queue.paused ? [{
    key: `paused:${queue.slug}`, tone: 'low' as const, verdict: `${queue.title} is paused`, subject: null, what: `${queue.title} is paused`,
    why: `by ${queue.paused.by} ${age(now - queue.paused.at)} ago: ${queue.paused.reason}`, whyQuotes: true as const,
    advice: 'Work is accepted and waits; nothing is taken until the queue is resumed.', timer: null, href: queuePath(queue.slug, { states: ['queued'] }),
    order: { action: 'resume_queue', fields: { queue: queue.slug }, subject: queue.title },
  }] : []));
}

function nearTtl({ nearTtl: near }: NowView): AttentionItem[] {
  if (!near) return [];
  return [{
    key: 'ttl', tone: 'low', verdict: `${counted(near.count, 'upload')} ${near.count === 1 ? 'is' : 'are'} about to expire`, subject: null,
    what: `${counted(near.count, 'staged upload')} ${near.count === 1 ? 'has' : 'have'} waited for hours`,
    why: `the first is erased after another ${age(near.secondsLeft * 1000)} of waiting for a free worker`,
    advice: 'Add workers, or ask the customer to upload again after it ends as “blob_expired”.', timer: null, href: `/queues/parse-items/${near.firstId}`,
  }];
}

function poison(view: NowView, now: number): AttentionItem[] {
  return view.poisonRows.map((row) => ({
    key: `poison:${row.id}`, tone: 'low', verdict: 'a row killed every worker that took it', subject: subjectOf(row),
    what: `${nounOf(view, row)} failed: every worker that took it died`,
    why: `${counted(row.lostLeases, 'lease')} lost, failed ${age(now - (row.finishedAt ?? now))} ago`,
    advice: 'Find out what the input does to a worker (memory, crash log) before it is uploaded again.', timer: null, href: rowPath(view, row),
  }));
}

function listener(feed: FeedState): AttentionItem[] {
  if (feed.state !== 'polling') return [];
  return [{
    key: 'listener', tone: 'low', verdict: 'the listener is down', subject: null, what: 'The listener is down',
    why: 'pages are fed by polling every few seconds', advice: 'Nothing is lost, only slower. It reconnects by itself; check the direct database URL if it does not.',
    timer: null, href: null,
  }];
}

function webhook({ webhook: failing }: NowView, now: number): AttentionItem[] {
  if (!failing) return [];
  return [{
    key: 'webhook', tone: 'low', verdict: 'the webhook takes no messages', subject: null, what: `The webhook has not taken messages for ${age(now - failing.since)}`,
    why: `${failing.host} ${failing.trouble} · ${counted(failing.waiting, 'message')} ${failing.waiting === 1 ? 'waits' : 'wait'}`,
    advice: 'Nobody is told of what is listed here until it takes them; it is tried again by itself. Check WEBHOOK_URL and its receiver: npx leaseboard webhook test.', timer: null, href: null,
  }];
}

/** "parse", "check citations": what a worker with it can do. */
export function capabilityWords(capability: string): string {
  return { parse: 'parse', citations: 'check citations', publish: 'publish' }[capability] ?? capability;
}

function holderWords(row: RowView): string {
  return row.worker ? `${row.worker.label} (${row.worker.version})` : 'its worker';
}

function slugOf(view: NowView, row: RowView | undefined): string {
  return view.queues.find((queue) => queue.table === row?.table)?.slug ?? view.queues[0]!.slug;
}

function nounOf(view: NowView, row: RowView): string {
  const noun = view.queues.find((queue) => queue.slug === slugOf(view, row))?.noun ?? 'row';
  return typeof row.columns.ordinal === 'number' ? `${noun} ${row.columns.ordinal + 1}` : noun;
}

function rowPath(view: NowView, row: RowView): string {
  return `/queues/${slugOf(view, row)}/${row.id}`;
}
