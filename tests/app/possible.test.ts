import { describe, expect, test } from 'vitest';
import { barred, possibleNow, rowActionsOf, type Rights, type RowAction } from '~/format/possible';
import { actionWords, changesOf, factsOf } from '~/format/action-words';
import { orderOf } from '~/format/row-order';
import type { RowView } from '../../server/console/row-view.js';
import { queues } from '../../server/lease/queues.js';
import { actions } from '../../server/operations/actions.js';

const NOW = 1_800_000_000_000;
const rights: Rights = { role: 'operator', readOnly: false, permissions: Object.fromEntries(actions.map(({ name, permission }) => [name, permission])), publishDeadAfterMs: 300_000 };

function row(change: Partial<RowView>): RowView {
  return {
    table: 'parse_items', id: '018f0000-0000-7000-8000-0000000abcde', kind: 'pdf', schemaVersion: 1, version: 1, state: 'queued', leaseToken: '7', attempt: 0, maxAttempts: 3, lostLeases: 0,
    runAfter: NOW - 1, claimedAt: null, heartbeatAt: null, leaseExpiresAt: null, worker: null, lastWorker: null, done: null, total: null, progressedAt: null,
    errorCode: null, errorMessage: null, createdAt: NOW - 9_000, finishedAt: null, columns: {}, ...change,
  };
}

const held = (left: number, change: Partial<RowView> = {}) => row({ state: 'running', worker: { id: 'w', label: 'worker-b', version: 'v42' }, heartbeatAt: NOW - 8_000, claimedAt: NOW - 60_000, leaseExpiresAt: NOW + left, ...change });
const ended = (state: RowView['state'], change: Partial<RowView> = {}) => row({ state, finishedAt: NOW - 1, ...change });
const parts = (total: number, succeeded: number, open = 0) => ({ total_children: total, succeeded_children: succeeded, open_children: open });
const lock = (silent: number, change: Partial<RowView> = {}) => row({ table: 'deployments', state: 'building', heartbeatAt: NOW - silent, columns: { slug: 'shop' }, ...change });

describe.each<[RowAction, [string, RowView, boolean, RegExp][]]>([
  ['release', [
    ['a live lease', held(72_000), false, /^lease valid for 1 m 12 s, last beat 8 s ago$/],
    ['a lease that ends this very moment', held(0), false, /^lease valid for 0 s/],
    ['a stale lease', held(-42_000), true, /^lease ended 42 s ago, last beat 8 s ago$/],
    ['a waiting row', row({}), false, /^nobody holds it$/],
    ['a done row', ended('succeeded'), false, /^it has ended \(done\)$/],
  ]],
  ['force_release', [
    ['a live lease', held(72_000), true, /^takes it from worker-b \(v42\), whose lease is valid for 1 m 12 s$/],
    ['a stale lease', held(-1_000), true, /releasing it is enough$/],
    ['a waiting row', row({}), false, /^nobody holds it$/],
    ['a failed row', ended('failed'), false, /^it has ended \(failed\)$/],
  ]],
  ['cancel', [
    ['a waiting row', row({}), true, /^ends it$/],
    ['a held row', held(72_000), true, /^ends it; worker-b \(v42\) is told to stop$/],
    ['an awaiting parent', row({ table: 'parse_jobs', state: 'awaiting', columns: parts(9, 2, 7) }), true, /^ends it with 7 open parts$/],
    ['a publish', lock(1_000), true, /^asks the publish to end; its lock is held until its build has$/],
    ['a live app', ended('live', { table: 'deployments' }), false, /^it has ended \(live\)$/],
    ['a cancelled row', ended('cancelled'), false, /^it has ended \(cancelled\)$/],
  ]],
  ['rekick', [
    ['a waiting row', row({}), true, /^offers it to the workers once more$/],
    ['a row in its backoff', row({ runAfter: NOW + 40_000 }), true, /^offers it at once, instead of in 40 s$/],
    ['a held row', held(72_000), false, /^worker-b \(v42\) is on it$/],
    ['an awaiting parent', row({ table: 'analysis_jobs', state: 'awaiting', columns: parts(9, 2, 7) }), false, /re-kick the part that is stuck$/],
    ['a failed file', ended('failed'), false, /bytes were erased when it ended: ask for the upload again$/],
    ['an upload of which nothing could be read', ended('failed', { table: 'parse_jobs', columns: parts(3, 0) }), false, /ask for the upload again$/],
    ['an upload of which some was read', ended('failed', { table: 'parse_jobs', columns: parts(3, 2) }), true, /^queues it again: 2 files were read$/],
    ['a finished analysis with failed citations', ended('succeeded', { table: 'analysis_jobs', columns: parts(84, 81) }), true, /^checks 3 citations again/],
    ['a finished analysis', ended('succeeded', { table: 'analysis_jobs', columns: parts(84, 84) }), false, /^nothing of it failed$/],
    ['an analysis that failed before its claims were read', ended('failed', { table: 'analysis_jobs', columns: parts(0, 0) }), true, /if its thesis is still stored$/],
    ['a failed citation', ended('failed', { table: 'job_citations' }), true, /if its source is still linked$/],
    ['a failed publish', ended('failed', { table: 'deployments' }), true, /^starts the next publish of this app$/],
    ['a live app', ended('live', { table: 'deployments' }), false, /it is live$/],
  ]],
  ['clear_lock', [
    ['a publish that beats', lock(8_000), false, /^the publish is alive: last beat 8 s ago \(stuck after 5 m of silence\)$/],
    ['a publish silent for exactly the limit', lock(300_000), false, /alive/],
    ['a stuck lock', lock(362_000), true, /^nothing was heard of it for 6 m 2 s$/],
    ['a free lock', ended('live', { table: 'deployments' }), false, /^the lock is free$/],
  ]],
])('%s', (action, cases) => {
  test.each(cases)('%s', (_name, subject, possible, why) => {
    expect(possibleNow(action, subject, NOW, rights)).toEqual({ possible, why: expect.stringMatching(why) });
  });
});

test('every action on rows is offered for every queue, the publish lock for deployments only', () => {
  for (const { table } of queues) expect(rowActionsOf(table).includes('clear_lock')).toBe(table === 'deployments');
  for (const action of rowActionsOf('deployments')) expect(rights.permissions[action]).toBeDefined();
});

test('a role that may not, and a read-only console, are told so', () => {
  expect(barred(rights, 'release')).toBeNull();
  expect(barred(rights, 'force_release')).toBe('Needs the role admin; yours is operator.');
  expect(barred({ ...rights, role: 'viewer' }, 'release')).toBe('Needs the role operator; yours is viewer.');
  expect(barred({ ...rights, role: 'admin' }, 'erase_user')).toBeNull();
  expect(barred({ ...rights, role: 'admin', readOnly: true }, 'release')).toMatch(/read-only/);
  expect(barred(rights, 'an_action_of_tomorrow')).toMatch(/admin/);
});

test('what repeats the lease in its guard is ordered under the lease that is shown, the rest is not', () => {
  expect(orderOf('release', held(-1), 'parse-items', 'parse item').fields).toEqual({ queue: 'parse-items', id: row({}).id, token: '7' });
  expect(orderOf('cancel', held(-1), 'parse-items', 'parse item').fields).toEqual({ queue: 'parse-items', id: row({}).id });
});

test('an action of tomorrow has words of its name', () => {
  expect(actionWords('move_house')).toEqual({ label: 'Move house', ask: ['Move house:', '?'], did: 'did: move house' });
  expect(actionWords('constructor').label).toBe('Constructor');
});

test('a snapshot reads as facts, and two of them as what has changed', () => {
  const before = { state: 'running', token: '7', version: 3, attempt: 0, worker: 'worker-b', workerVersion: 'v42', leaseLeft: -42, silent: 132, errorCode: null };
  expect(factsOf(before)).toEqual([
    { key: 'state', name: 'State', text: 'running' }, { key: 'token', name: 'Token', text: '#7' }, { key: 'attempt', name: 'Failures', text: '0' },
    { key: 'worker', name: 'Holder', text: 'worker-b (v42)' }, { key: 'leaseLeft', name: 'Lease', text: 'ended 42 s ago' }, { key: 'silent', name: 'Last beat', text: '2 m 12 s ago' },
  ]);
  expect(changesOf(before, { state: 'queued', token: '7', version: 4, lostLeases: 1 })).toEqual([
    { key: 'state', name: 'State', before: 'running', after: 'queued' }, { key: 'lostLeases', name: 'Lost leases', before: null, after: '1' },
  ]);
  expect(factsOf({ label: 'worker-b', version: 'v42', someCountMs: 1_200 }).map(({ name, text }) => `${name}: ${text}`)).toEqual(['Worker: worker-b', 'Version: v42', 'Some count ms: 1.2 s']);
});
