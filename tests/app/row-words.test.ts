import { expect, test } from 'vitest';
import { errorMeaning } from '~/format/error-words';
import { eventWords } from '~/format/event-words';
import { lockStep } from '~/format/lock-step';
import { nextStep } from '~/format/next-step';
import { shownState, stateLooks } from '~/format/state';
import { workerLook } from '~/format/worker-state';
import type { EventView } from '../../server/console/row-page.js';
import { queues } from '../../server/lease/queues.js';
import type { WorkerView } from '../../server/console/workers.js';

const NOW = 1_800_000_000_000;

function event(change: Partial<EventView>): EventView {
  return { id: '1', at: NOW, fromState: null, toState: null, cause: 'acquire', worker: 'worker-a', version: 'v43', leaseToken: '1', waitedMs: 210, ranMs: null, errorCode: null, ...change };
}

test('the states of a queue are told apart by word and by shape, not by colour alone', () => {
  for (const queue of queues) {
    const looks = [...queue.states, 'stale' as const].map((state) => stateLooks[state]);
    expect(new Set(looks.map((look) => look.word)).size).toBe(looks.length);
    expect(new Set(looks.map((look) => look.shape)).size).toBe(looks.length);
  }
});

test('a running row is stale from the moment its lease ends on the database clock', () => {
  expect(shownState({ state: 'running', leaseExpiresAt: NOW }, NOW)).toBe('running');
  expect(shownState({ state: 'running', leaseExpiresAt: NOW - 1 }, NOW)).toBe('stale');
  expect(shownState({ state: 'queued', leaseExpiresAt: null }, NOW)).toBe('queued');
});

test('a transition is told in words, with who, how long and why', () => {
  expect(eventWords(event({})).text).toBe('Taken by worker-a (v43), waited 210 ms');
  expect(eventWords(event({ cause: 'retry', ranMs: 5_800, errorCode: 'parser_crashed' })).text).toBe('Attempt failed by worker-a (v43) after 5.8 s: parser_crashed; queued to try again');
  expect(eventWords(event({ cause: 'sweep' })).text).toBe('Lease ran out: worker-a (v43) fell silent; the sweep queued it again');
  expect(eventWords(event({ cause: 'enqueue', toState: 'awaiting' })).text).toBe('Accepted; waits for its files');
});

test('a cause that this version does not know is shown by its name', () => {
  expect(eventWords(event({ cause: 'moved_house', fromState: 'queued', toState: 'running', worker: null })).text).toBe('moved house: queued → running');
});

test('an error code that this version does not know has no invented meaning', () => {
  expect(errorMeaning('no_text')).toMatch(/pictures/);
  expect(errorMeaning('constructor')).toBeNull();
});

const known = {
  queue: {} as never, sweep: { lastRunAt: NOW - 12_000, intervalSeconds: 30 }, capability: 'parse', capableWorkers: 2, knowingWorkers: 2, pausedReason: null, breakerUntil: null,
};
const row = { state: 'queued', runAfter: NOW - 1, attempt: 1, maxAttempts: 3, leaseExpiresAt: null, columns: { open_children: 2 } } as never as Parameters<typeof nextStep>[0]['row'];

test('what happens next is said with its instant where that is known', () => {
  expect(nextStep({ ...known, row }, NOW).text).toBe('The next free slot takes it (2 live workers).');
  expect(nextStep({ ...known, row: { ...row, runAfter: NOW + 6_000 } }, NOW)).toMatchObject({ at: NOW + 6_000, label: 'retry' });
  expect(nextStep({ ...known, row: { ...row, state: 'running', leaseExpiresAt: NOW - 1 } }, NOW)).toMatchObject({ at: NOW + 18_000, label: 'sweep' });
  expect(nextStep({ ...known, row, capableWorkers: 0 }, NOW).text).toMatch(/No live worker/);
  expect(nextStep({ ...known, row: { ...row, kind: 'pdf', schemaVersion: 2 }, knowingWorkers: 0 }, NOW).text).toMatch(/newer worker: 2 live workers .* none knows kind “pdf” at schema version 2/);
  expect(nextStep({ ...known, row, pausedReason: 'disk' }, NOW).text).toMatch(/paused \(disk\)/);
  expect(nextStep({ ...known, row: { ...row, state: 'awaiting' } }, NOW).text).toMatch(/2 open files/);
});

const worker: WorkerView = {
  id: 'w', label: 'w', role: 'worker', version: 'v1', host: 'h', pid: 1, capabilities: ['parse'], kinds: {}, slots: 4, leases: 3, heartbeatSeconds: 30,
  startedAt: NOW - 1e6, heartbeatAt: NOW - 5_000, drainingSince: null, drainedBy: null, killDeadlineAt: null, stoppedAt: null, goneAt: null,
};

test.each([
  ['live', {}, '3 leases'], ['silent', { heartbeatAt: NOW - 132_000 }, '2 m 12 s, 3 leases held'],
  ['draining', { drainingSince: NOW - 1, drainedBy: 'shutdown', killDeadlineAt: NOW + 14_000 }, '3 leases, 14 s left'],
  ['draining', { drainingSince: NOW - 1, drainedBy: 'operator' }, '3 leases, by an operator'],
  ['drained', { drainingSince: NOW - 1, drainedBy: 'operator', leases: 0 }, 'by an operator, idle'],
  ['gone', { goneAt: NOW, heartbeatAt: NOW - 132_000, leases: 0 }, 'silent 2 m 12 s'], ['stopped', { stoppedAt: NOW, leases: 0 }, 'clean'],
] as const)('a process that is %s says so (%o)', (word, change, note) => {
  expect(workerLook({ ...worker, ...change }, NOW)).toMatchObject({ word, note });
});

test('a lock whose worker has let its lease run out is not said to beat', () => {
  const held = { ...row, state: 'building', worker: { id: 'w' }, heartbeatAt: NOW - 70_000, leaseExpiresAt: NOW + 5_000 } as never as typeof row;
  const words = (leaseExpiresAt: number) => lockStep({ ...known, row: { ...held, leaseExpiresAt } }, { cancelRequestedAt: null }, 300_000, NOW);
  expect(words(NOW + 5_000)).toMatch(/^Its worker beats/);
  expect(words(NOW - 10_000)).toMatch(/^Its worker has let its lease run out: the sweep gives it back.*After 5 m of silence/);
});
