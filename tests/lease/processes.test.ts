import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { beatProcess, markSilentGone, markStopped, registerProcess, startShutdownDrain, type ProcessIdentity } from '../../server/lease/processes.js';
import { parseItems } from '../../server/lease/queues.js';
import { endRedeploys } from '../../server/lease/redeploys.js';
import { settle } from '../../server/lease/settle.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { alice, clear, newJob } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(async () => {
  await clear(database.pool);
  await database.pool.query('truncate workers, redeploys');
});

function process(id: string, version: string, more: Partial<ProcessIdentity> = {}): ProcessIdentity {
  return { id, label: id, role: 'worker', version, host: 'test', pid: 1, capabilities: ['parse'], kinds: { parse_items: { pdf: 1 } }, slots: 4, heartbeatSeconds: 30, ...more };
}

const redeploys = async () => (await database.pool.query('select role, from_version, to_version, ended_at is not null as ended from redeploys order by started_at, id')).rows;
const worker = async (id: string) => (await database.pool.query('select gone_at, stopped_at, draining_since, drained_by, extract(epoch from kill_deadline_at - now())::float8 as kill_in from workers where id = $1', [id])).rows[0];
/** The process has been silent for this many seconds. */
const silence = (id: string, seconds: number) => database.pool.query(`update workers set heartbeat_at = now() - $1 * interval '1 second' where id = $2`, [seconds, id]);
const began = (id: string, secondsAgo: number) => database.pool.query(`update workers set started_at = now() - $1 * interval '1 second' where id = $2`, [secondsAgo, id]);

describe('a redeploy', () => {
  it('begins when a new version beats beside an old one, once however many processes it has', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await registerProcess(database.pool, process('a2', 'v1'));
    expect(await redeploys()).toEqual([]);
    await began('a1', 60);
    await began('a2', 60);
    await Promise.all(['b1', 'b2', 'b3'].map((id) => registerProcess(database.pool, process(id, 'v2'))));
    expect(await redeploys()).toEqual([{ role: 'worker', from_version: 'v1', to_version: 'v2', ended: false }]);
  });

  it('is seen although the old version had already ended', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await markStopped(database.pool, 'a1');
    await began('a1', 60);
    await registerProcess(database.pool, process('b1', 'v2'));
    expect(await redeploys()).toMatchObject([{ from_version: 'v1', to_version: 'v2', ended: false }]);
    await endRedeploys(database.pool);
    expect(await redeploys()).toMatchObject([{ ended: true }]);
  });

  it('is no business of another role, nor of the first start, nor of a restart of the same version', async () => {
    await registerProcess(database.pool, process('w1', 'v1', { role: 'web' }));
    await registerProcess(database.pool, process('a1', 'v2'));
    await began('a1', 60);
    await registerProcess(database.pool, process('a2', 'v2'));
    expect(await redeploys()).toEqual([]);
  });

  it('ends when the old version neither beats nor holds a lease, not before', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await began('a1', 60);
    await registerProcess(database.pool, process('b1', 'v2'));
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, { ...alice, workerId: 'a1' }, 1);
    expect(await endRedeploys(database.pool)).toBe(0);
    await markStopped(database.pool, 'a1');
    expect(await endRedeploys(database.pool)).toBe(0); // its lease has not run out
    await settle(database.pool, parseItems, alice, [{ id: lease!.id, token: lease!.token, verb: 'drain' }]);
    expect(await endRedeploys(database.pool)).toBe(1);
    expect(await endRedeploys(database.pool)).toBe(0);
  });

  it('back to an older version is one of its own', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await began('a1', 120);
    await registerProcess(database.pool, process('b1', 'v2'));
    await began('b1', 60);
    await markStopped(database.pool, 'a1');
    await endRedeploys(database.pool);
    await registerProcess(database.pool, process('c1', 'v1'));
    expect(await redeploys()).toEqual([
      { role: 'worker', from_version: 'v1', to_version: 'v2', ended: true },
      { role: 'worker', from_version: 'v2', to_version: 'v1', ended: false },
    ]);
  });
});

describe('a process', () => {
  it('is gone after three missed beats of its own, not of others', async () => {
    await registerProcess(database.pool, process('fast', 'v1', { heartbeatSeconds: 2 }));
    await registerProcess(database.pool, process('slow', 'v1', { heartbeatSeconds: 30 }));
    await silence('fast', 5);
    await silence('slow', 80);
    expect(await markSilentGone(database.pool)).toBe(0);
    await silence('fast', 7);
    expect(await markSilentGone(database.pool)).toBe(1);
    expect(await worker('fast')).toMatchObject({ gone_at: expect.any(Date), stopped_at: null });
    expect(await worker('slow')).toMatchObject({ gone_at: null });
    expect(await markSilentGone(database.pool)).toBe(0);
  });

  it('that was frozen and thaws is taken back as alive with its next beat', async () => {
    await registerProcess(database.pool, process('frozen', 'v1'));
    await silence('frozen', 500);
    await markSilentGone(database.pool);
    expect(await beatProcess(database.pool, 'frozen')).toEqual({ drainedBy: null });
    expect(await worker('frozen')).toMatchObject({ gone_at: null });
  });

  it('that the registry has forgotten learns so, and registers again', async () => {
    expect(await beatProcess(database.pool, 'unknown')).toBeUndefined();
    await registerProcess(database.pool, process('unknown', 'v1'));
    await registerProcess(database.pool, process('unknown', 'v1'));
    expect(await beatProcess(database.pool, 'unknown')).toEqual({ drainedBy: null });
  });

  it('that stops says since when it drains, when it will be killed and when it stopped', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await startShutdownDrain(database.pool, 'a1', 20);
    const draining = await worker('a1');
    expect(draining).toMatchObject({ drained_by: 'shutdown', draining_since: expect.any(Date), stopped_at: null });
    expect(draining.kill_in).toBeGreaterThan(18);
    expect(draining.kill_in).toBeLessThanOrEqual(20);
    await markStopped(database.pool, 'a1');
    const stopped = await worker('a1');
    await markStopped(database.pool, 'a1');
    expect((await worker('a1')).stopped_at).toEqual(stopped.stopped_at);
    expect(await beatProcess(database.pool, 'a1')).toBeUndefined();
    await silence('a1', 500);
    expect(await markSilentGone(database.pool)).toBe(0); // it said its last word
  });

  it('that an operator drains hears of it with its beat, and keeps the time when a shutdown follows', async () => {
    await registerProcess(database.pool, process('a1', 'v1'));
    await database.pool.query(`update workers set draining_since = now() - interval '1 minute', drained_by = 'operator'`);
    expect(await beatProcess(database.pool, 'a1')).toEqual({ drainedBy: 'operator' });
    const before = await worker('a1');
    await startShutdownDrain(database.pool, 'a1', 20);
    expect(await worker('a1')).toMatchObject({ drained_by: 'shutdown', draining_since: before.draining_since });
  });
});
