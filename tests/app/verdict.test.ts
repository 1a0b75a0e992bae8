import { expect, test } from 'vitest';
import { attentionOf } from '~/format/attention';
import { verdictOf } from '~/format/verdict';
import { waitsForNewer } from '~/known-kinds';
import type { NowView } from '../../server/console/now.js';
import type { QueueNow } from '../../server/console/now-queues.js';
import type { RowView } from '../../server/console/row-view.js';

const NOW = 1_800_000_000_000;
const ago = (seconds: number) => NOW - seconds * 1000;

function queue(change: Partial<QueueNow> = {}): QueueNow {
  return {
    slug: 'parse-items', table: 'parse_items', title: 'Parse items', noun: 'parse item', capability: 'parse', awaiting: 0, queued: 0, running: 0, stale: 0,
    failedLastHour: 0, oldestSince: null, wait: { p50: null, p95: null }, run: { p50: null, p95: null }, throughput: [], used: true, paused: null, breaker: null, ...change,
  };
}

function view(change: Partial<NowView> = {}): NowView {
  return {
    asOf: NOW, epoch: 1, queues: [queue()], versions: [{ version: 'v42', live: 2, drained: 0, draining: 0, leases: 3, killDeadlineAt: null }], capabilities: ['parse'], drainedCapabilities: [],
    sweep: { lastRunAt: ago(5), intervalSeconds: 30 }, redeploy: null, staleRows: [], stuckLocks: [], poisonRows: [], nearTtl: null, knownKinds: { parse_items: { pdf: 1 } }, newerWaits: [], boards: [], webhook: null, ...change,
  };
}

function row(change: Partial<RowView> = {}): RowView {
  return {
    table: 'parse_items', id: '01a22d66-f34f-7d36-83ed-0a14815d92f9', kind: 'pdf', schemaVersion: 1, version: 3, state: 'running', leaseToken: '3', attempt: 0, maxAttempts: 3, lostLeases: 0,
    runAfter: ago(300), claimedAt: ago(200), heartbeatAt: ago(132), leaseExpiresAt: ago(42), worker: { id: 'w-1', label: 'worker-b', version: 'v42' }, lastWorker: null,
    done: null, total: null, progressedAt: null, errorCode: null, errorMessage: null, createdAt: ago(300), finishedAt: null, columns: { filename: 'paper.pdf' }, ...change,
  };
}

function headline(seen: NowView, feed?: Parameters<typeof attentionOf>[2]) {
  const verdict = verdictOf(seen, attentionOf(seen, NOW, feed), NOW, feed);
  return { tone: verdict.tone, text: verdict.parts.map((part) => part.text).join(''), detail: verdict.detail };
}

test('when nothing is wrong the verdict says so with the figures', () => {
  const seen = view({ queues: [queue({ running: 14, queued: 3, oldestSince: ago(4) })] });
  expect(headline(seen)).toEqual({ tone: 'ok', text: 'All clear: 14 running, 0 stale, 3 queued, oldest 4 s', detail: null });
});

test('a console without any row says that there is nothing yet', () => {
  expect(headline(view({ queues: [queue({ used: false })], sweep: { lastRunAt: null, intervalSeconds: 30 } })).text).toBe('Nothing here yet, and all is well.');
});

test('a page that reads nothing says that it does not know, and what it last knew', () => {
  const seen = view({ asOf: ago(24), queues: [queue({ running: 14 })], sweep: { lastRunAt: ago(100), intervalSeconds: 30 } });
  const unknown = { tone: 'stale', text: 'Not known now: nothing could be read for 24 s.', detail: 'When last read: 14 running, 0 stale, 0 queued.' };
  expect(headline(seen, { state: 'offline', asOf: ago(24) })).toEqual(unknown);
  expect(headline(seen, { state: 'catching_up', stale: true })).toEqual(unknown);
  expect(attentionOf(seen, NOW, { state: 'offline', asOf: ago(24) })).toEqual([]);
});

test('a stale lease is named with its age, its silent holder and the coming sweep', () => {
  const seen = view({ queues: [queue({ running: 1, stale: 1 })], staleRows: [row()] });
  expect(headline(seen)).toEqual({ tone: 'stale', text: 'One lease is stale.', detail: '1 running, 1 stale, 0 queued.' });
  const [item] = attentionOf(seen, NOW);
  expect(item).toMatchObject({
    subject: 'paper.pdf', why: 'lease ended 42 s ago · worker-b (v42) silent for 2 m 12 s', timer: { label: 'sweep', at: ago(-25) },
    href: '/queues/parse-items/01a22d66-f34f-7d36-83ed-0a14815d92f9',
  });
});

test('a stale lease that no sweep gives back asks for a person', () => {
  const advice = (lastRunAt: number) => attentionOf(view({ queues: [queue({ running: 1, stale: 1 })], staleRows: [row()], sweep: { lastRunAt, intervalSeconds: 30 } }), NOW)[0];
  expect(advice(ago(5))!.advice).toMatch(/^Nothing to do: the sweep gives it back/);
  expect(advice(ago(400))).toMatchObject({ advice: expect.stringMatching(/^The sweep that gives it back is overdue: release it/), timer: null });
});

test('a stale publish is named by its app, a stale check by its number', () => {
  const queues = [queue({ running: 2, stale: 2 }), queue({ slug: 'deployments', table: 'deployments', noun: 'deployment' }), queue({ slug: 'citations', table: 'job_citations', noun: 'citation' })];
  const staleRows = [row({ table: 'deployments', columns: { slug: 'your-app' } }), row({ table: 'job_citations', columns: { ordinal: 50 } })];
  expect(attentionOf(view({ queues, staleRows }), NOW).map(({ subject, what }) => [subject, what])).toEqual([['your-app', 'deployment lost its worker'], [null, 'citation 51 lost its worker']]);
});

test('many stale leases are shown as a few and a count', () => {
  const rows = [1, 2, 3].map((n) => row({ id: `01a22d66-f34f-7d36-83ed-00000000000${n}` }));
  const items = attentionOf(view({ queues: [queue({ running: 40, stale: 40 })], staleRows: rows }), NOW);
  expect(items.map((item) => item.what)).toEqual([...rows.map(() => 'parse item lost its worker'), '37 more leases like these']);
  expect(items.at(-1)!.href).toBe('/queues/parse-items?state=stale');
});

test('a rolling redeploy says how many workers are over, and what the old version still holds', () => {
  const seen = view({
    redeploy: { fromVersion: 'v42', toVersion: 'v43', startedAt: ago(50) },
    versions: [{ version: 'v42', live: 0, drained: 0, draining: 1, leases: 3, killDeadlineAt: ago(-14) }, { version: 'v43', live: 2, drained: 0, draining: 0, leases: 9, killDeadlineAt: null }],
  });
  expect(headline(seen)).toEqual({
    tone: 'ok', text: 'Redeploy rolling: 2 of 3 workers are on v43. ', detail: '0 running, 0 stale, 0 queued. v42 still holds 3 leases and is stopped in 14 s.',
  });
});

test('where every capable worker is drained by an operator, the list says to resume one', () => {
  const seen = view({ queues: [queue({ queued: 2 })], capabilities: [], drainedCapabilities: ['parse'], versions: [] });
  expect(headline(seen).text).toBe('Every worker that can parse is drained.');
  expect(attentionOf(seen, NOW)[0]).toMatchObject({ what: 'Every worker that can parse is drained by an operator: nobody takes this work', advice: expect.stringMatching(/^Resume one on Workers, or start another that takes “parse”/) });
});

test('a worker that an operator drained is said to idle, and is not said to leave', () => {
  const drained = { version: 'v42', live: 1, drained: 1, draining: 0, leases: 0, killDeadlineAt: null };
  expect(headline(view({ versions: [drained] }))).toMatchObject({ tone: 'ok', text: expect.stringContaining('All clear'), detail: '1 worker of v42 is drained by an operator and takes nothing until it is resumed.' });
  const rolling = view({ redeploy: { fromVersion: 'v42', toVersion: 'v43', startedAt: ago(50) }, versions: [{ ...drained, live: 0, drained: 2 }, { ...drained, version: 'v43', live: 2, drained: 0 }] });
  expect(headline(rolling)).toMatchObject({
    text: 'Redeploy rolling: 2 of 4 workers are on v43. ', detail: '0 running, 0 stale, 0 queued. 2 workers of v42 are drained by an operator and take nothing until they are resumed.',
  });
});

test('each trouble has a sentence in the verdict and an instruction in the list', () => {
  const seen = view({
    queues: [queue({ queued: 2, paused: { at: ago(60), by: 'ada', reason: 'disk' }, breaker: { openedAt: ago(9), retryAt: ago(-21), failures: 3, reason: '503 from embeddings' } })],
    capabilities: [], sweep: { lastRunAt: ago(400), intervalSeconds: 30 }, nearTtl: { count: 1, firstId: 'x', secondsLeft: 1_800 },
    poisonRows: [row({ state: 'failed', finishedAt: ago(60), lostLeases: 10, errorCode: 'worker_lost' })],
  });
  const items = attentionOf(seen, NOW, { state: 'polling' });
  expect(items.map((item) => item.key.split(':')[0])).toEqual(['uncovered', 'sweeper', 'breaker', 'paused', 'ttl', 'poison', 'listener']);
  expect(items.every((item) => item.advice.length > 20)).toBe(true);
  expect(headline(seen, { state: 'polling' }).text).toBe(
    'No live worker can parse, the sweep is overdue, Parse items rests after an outage, Parse items is paused, 1 upload is about to expire, a row killed every worker that took it and the listener is down.');
});

test('a capability that nobody has is one entry, however many queues need it', () => {
  const queues = [queue({ slug: 'parse-jobs', table: 'parse_jobs', title: 'Parse jobs', queued: 1 }), queue({ queued: 3 })];
  const items = attentionOf(view({ queues, capabilities: [], knownKinds: {} }), NOW);
  expect(items).toMatchObject([{ key: 'uncovered:parse', tone: 'stale', what: 'No live worker can parse: nobody takes this work', why: 'Parse jobs and Parse items · 4 rows wait' }]);
});

const newer = { table: 'parse_items', slug: 'parse-items', noun: 'parse item', capability: 'parse', kind: 'pdf', schemaVersion: 2, rows: 3, oldestSince: ago(240) } as const;

test('rows that need a newer worker are told apart from rows that need any', () => {
  const seen = view({ newerWaits: [newer] });
  expect(headline(seen)).toMatchObject({ tone: 'low', text: '3 parse items wait for a newer worker.' });
  expect(attentionOf(seen, NOW)[0]).toMatchObject({ why: 'kind “pdf”, schema version 2 · live workers know it up to version 1 · oldest waits 4 m', href: '/queues/parse-items?state=queued' });
  expect(attentionOf(view({ capabilities: [], knownKinds: {}, newerWaits: [newer] }), NOW).map((item) => item.key)).toEqual(['uncovered:parse']);
});

test('a row says that it waits for a newer worker as long as none that lives knows it, and only while it waits', () => {
  const waits = (change: Partial<RowView>, facts: Partial<NowView> = {}) => waitsForNewer(row({ state: 'queued', worker: null, schemaVersion: 2, ...change }), view(facts));
  expect(waits({})).toBe(true);
  expect(waits({ kind: 'epub', schemaVersion: 1 })).toBe(true);
  expect(waits({ schemaVersion: 1 })).toBe(false);
  expect(waits({ state: 'succeeded' })).toBe(false);
  expect(waits({}, { knownKinds: { parse_items: { pdf: 2 } } })).toBe(false);
  expect(waits({}, { capabilities: [], knownKinds: {} })).toBe(false);
});

test('what a screen reader hears does not change with the seconds', () => {
  const seen = view({ queues: [queue({ running: 1, stale: 1 })], staleRows: [row()] });
  const spoken = [NOW, NOW + 7_000].map((now) => verdictOf(seen, attentionOf(seen, now), now).spoken);
  expect(new Set(spoken).size).toBe(1);
});
