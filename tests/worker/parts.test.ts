import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../server/lease/errors.js';
import type { Lease } from '../../server/lease/lease.js';
import { parseItems, parseJobs, type QueueDefinition } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import { Holdings } from '../../server/worker/holdings.js';
import { lanesOf, Slots } from '../../server/worker/lanes.js';
import { createLoop } from '../../server/worker/loop.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
const lease = (id: string, token = '1', queue = 'parse_items'): Lease => ({ queue, id, token, kind: 'pdf', attempt: 0, lostLeases: 0, row: {} });

describe('what a process holds', () => {
  it('is trusted until a deadline before the lease\'s end, counted from before the request was sent', () => {
    const holdings = new Holdings(120);
    const held = holdings.add(lease('a'), 1_000);
    expect(held.deadline).toBe(1_000 + 115_000); // five seconds are kept for writes under way
    expect(new Holdings(6).add(lease('a'), 0).deadline).toBe(5_400); // of a short lease a tenth
    expect(holdings.loseOverdue(115_999)).toEqual([]);
    holdings.renewed(held, 31_000);
    expect(holdings.loseOverdue(116_001)).toEqual([]);
    expect(holdings.loseOverdue(146_000)).toEqual([held]);
    expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(holdings.size).toBe(0);
  });

  it('under an old token ends when the same row is claimed again, and its late end does not take the new one away', () => {
    const holdings = new Holdings(120);
    const old = holdings.add(lease('a', '1'), 0);
    const current = holdings.add(lease('a', '2'), 0);
    expect([old.signal.aborted, current.signal.aborted, holdings.has(old), holdings.has(current)]).toEqual([true, false, false, true]);
    holdings.remove(old);
    expect(holdings.has(current)).toBe(true);
  });

  it('tells rows of two queues with one id apart', () => {
    const holdings = new Holdings(120);
    holdings.add(lease('a'), 0);
    holdings.add(lease('a', '1', 'parse_jobs'), 0);
    expect([holdings.idsOf('parse_items'), holdings.idsOf('parse_jobs'), holdings.byRowId('a').length]).toEqual([['a'], ['a'], 2]);
  });

  it('remembers why it was stopped for a handler that asks only later', () => {
    const holdings = new Holdings(120);
    const held = holdings.add(lease('a'), 0);
    holdings.lose(held, 'someone took it');
    holdings.lose(held, 'a later reason');
    expect(String(held.signal.reason)).toContain('someone took it');
  });
});

describe('slots', () => {
  const publish = { ...parseJobs, table: 'deployments', capability: 'publish' } as unknown as QueueDefinition;
  const lanes = lanesOf({ workerConcurrency: 4, workerConcurrencyParse: 2, workerConcurrencyCitations: undefined, workerConcurrencyPublish: undefined }, [parseItems, parseJobs, publish]);

  it('are split where a capability has a limit of its own, parents first', () => {
    expect(lanes.map((lane) => [lane.slots, lane.queues.map((queue) => queue.table)])).toEqual([[2, ['parse_jobs', 'parse_items']], [4, ['deployments']]]);
  });

  it('are shared by the queues of a lane and by no others, and are given back once', () => {
    const waiting = new Map<string, number>();
    const slots = new Slots(lanes, (queue) => waiting.get(queue) ?? 0);
    const giveBack = slots.take('parse_items');
    slots.take('parse_jobs');
    expect([slots.free('parse_items'), slots.free('parse_jobs'), slots.free('deployments')]).toEqual([0, 0, 4]);
    giveBack();
    expect(slots.free('parse_jobs')).toBe(1);
    waiting.set('parse_items', 1); // its end is not written: the row is still held
    expect(slots.free('parse_jobs')).toBe(0);
    expect(() => slots.free('unknown')).toThrow(/lane/);
  });
});

describe('a loop', () => {
  it('runs again after a failure, sooner than after a success', async () => {
    let runs = 0;
    const loop = createLoop({ name: 'test', everyMs: 60_000, retryMs: 5, jitter: 0, log, run: async () => { runs += 1; throw new Error('again'); } });
    const quick = createLoop({ name: 'quick', everyMs: 5, jitter: 0, log, run: async () => { runs += 1; throw new Error('again'); } });
    quick.start();
    await until(() => runs >= 3);
    await quick.stop();
    loop.start();
    await loop.stop();
  });

  it('never runs twice at once, and stop waits for the run under way', async () => {
    let open = 0;
    let most = 0;
    let finish = () => {};
    const loop = createLoop({
      name: 'test', everyMs: 1, jitter: 0, log,
      run: async () => { most = Math.max(most, ++open); await new Promise<void>((resolve) => { finish = resolve; }); open -= 1; },
    });
    loop.start();
    await until(() => open === 1);
    const joined = loop.runOnce();
    let stopped = false;
    const stop = loop.stop().then(() => { stopped = true; });
    await new Promise((resolve) => setImmediate(resolve));
    expect([most, stopped]).toEqual([1, false]);
    finish();
    await Promise.all([joined, stop]);
    expect(open).toBe(0);
  });
});
