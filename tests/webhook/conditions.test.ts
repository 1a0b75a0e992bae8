import { expect, test } from 'vitest';
import { attentionOf } from '~/format/attention';
import type { NowView } from '../../server/console/now.js';
import type { QueueNow } from '../../server/console/now-queues.js';
import type { RowView } from '../../server/console/row-view.js';
import { conditionsOf } from '../../server/webhook/conditions.js';

const NOW = 1_800_000_000_000;
const ago = (seconds: number) => NOW - seconds * 1000;
/** In every place where a user's, an operator's or another service's words can come from. */
const PRIVATE = 'private words of ada@example.com.pdf';

function queue(change: Partial<QueueNow> = {}): QueueNow {
  return {
    slug: 'parse-items', table: 'parse_items', title: 'Parse items', noun: 'parse item', capability: 'parse', awaiting: 0, queued: 0, running: 0, stale: 0,
    failedLastHour: 0, oldestSince: null, wait: { p50: null, p95: null }, run: { p50: null, p95: null }, throughput: [], used: true, paused: null, breaker: null, ...change,
  };
}

function row(id: string, change: Partial<RowView> = {}): RowView {
  return {
    table: 'parse_items', id, kind: 'pdf', schemaVersion: 1, version: 3, state: 'running', leaseToken: '3', attempt: 0, maxAttempts: 3, lostLeases: 10, runAfter: ago(300), claimedAt: ago(200),
    heartbeatAt: ago(132), leaseExpiresAt: ago(42), worker: { id: 'w-1', label: 'worker-b', version: 'v42' }, lastWorker: null, done: null, total: null, progressedAt: null,
    errorCode: null, errorMessage: PRIVATE, createdAt: ago(300), finishedAt: ago(60), columns: { filename: PRIVATE, slug: PRIVATE, user_email: PRIVATE }, ...change,
  };
}

/** Everything that can be wrong, at once. */
const everything: NowView = {
  asOf: NOW, epoch: 1, versions: [{ version: 'v42', live: 2, drained: 0, draining: 0, leases: 3, killDeadlineAt: null }], capabilities: ['parse'], drainedCapabilities: [], redeploy: null,
  queues: [
    queue({ stale: 8, paused: { at: ago(60), by: PRIVATE, reason: PRIVATE } }),
    queue({ slug: 'citations', table: 'job_citations', title: 'Citations', noun: 'citation', capability: 'citations', breaker: { openedAt: ago(70), retryAt: NOW, failures: 3, reason: PRIVATE } }),
  ],
  sweep: { lastRunAt: ago(500), intervalSeconds: 30 }, staleRows: [row('s1'), row('s2')], poisonRows: [row('p1', { state: 'failed' }), row('p2', { state: 'failed' })],
  stuckLocks: [{ row: row('d1', { table: 'deployments' }), publishedAt: ago(600), refused: 2, reclaimableAt: ago(10) }],
  nearTtl: { count: 2, firstId: 't1', secondsLeft: 1_800 }, knownKinds: { parse_items: { pdf: 1 } },
  newerWaits: [{ table: 'parse_items', slug: 'parse-items', noun: 'parse item', capability: 'parse', kind: 'pdf', schemaVersion: 2, rows: 4, oldestSince: ago(240) }],
  boards: [{ redeploy: { id: 'r1', fromVersion: 'v41', toVersion: 'v42' }, onlyOld: ['publish'] }] as unknown as NowView['boards'],
  webhook: { host: 'hooks.example.com', since: ago(900), trouble: 'answered 503', waiting: 3 },
};
const told = conditionsOf(attentionOf(everything, NOW, { state: 'polling' }));
const of = (kind: string) => told.filter(({ facts }) => facts.kind === kind);

test('every kind that Now shows has a code of its own; the webhook\'s own trouble alone is not told', () => {
  expect(told.map(({ key, facts }) => [key, facts.kind, facts.about])).toEqual(expect.arrayContaining([
    ['stuck:d1', 'publish_lock_stuck', 'd1'], ['stale', 'stale_lease', null], ['uncovered:citations', 'no_worker', 'citations'], ['newer:parse-items:pdf:2', 'newer_worker_needed', 'parse-items:pdf:2'],
    ['leaving:r1:publish', 'capability_leaving', 'r1:publish'], ['sweeper', 'sweep_overdue', null], ['breaker:citations', 'queue_resting', 'citations'], ['paused:parse-items', 'queue_paused', 'parse-items'],
    ['ttl', 'uploads_expiring', null], ['poison:p1', 'row_kills_workers', 'p1'], ['poison:p2', 'row_kills_workers', 'p2'], ['listener', 'listener_down', null],
  ]));
  expect(told).toHaveLength(12);
});

test('the sentence is that of Now: what is true, and what to do next', () => {
  expect(of('sweep_overdue')[0]!.facts).toEqual({
    kind: 'sweep_overdue', about: null, severity: 'alarm', what: 'The sweep is overdue', path: '/workers',
    text: 'The sweep is overdue: last ran 8 m 20 s ago, expected every 30 s. Leases of dead workers stay held until it runs. Run it by hand: npx leaseboard sweep.',
  });
  expect(of('publish_lock_stuck')[0]!.facts).toMatchObject({ severity: 'alarm', path: '/deployments/d1', text: expect.stringMatching(/^Publish lock is stuck: building for 10 m .* 2 callers refused meanwhile\. The next publish/) });
});

test('leases that went stale together are one condition; a single one is told with its holder', () => {
  expect(of('stale_lease')[0]!.facts).toMatchObject({ what: '8 leases are stale', path: '/queues/parse-items?state=stale' });
  const one = { ...everything, queues: [queue({ stale: 1 })], staleRows: [row('s1')] };
  expect(conditionsOf(attentionOf(one, NOW)).find(({ key }) => key === 'stale')!.facts).toMatchObject({
    path: '/queues/parse-items/s1', text: expect.stringContaining('Parse item lost its worker: lease ended 42 s ago · worker-b (v42) silent for 2 m 12 s. The sweep that gives it back is overdue: release it'),
  });
});

test('nothing that a user, an operator or another service wrote leaves the house', () => {
  expect(JSON.stringify(attentionOf(everything, NOW))).toContain(PRIVATE);   // Now shows it
  expect(JSON.stringify(told)).not.toMatch(/private words|ada@example/);
});
