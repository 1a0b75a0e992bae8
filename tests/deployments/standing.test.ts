import { beforeAll, describe, expect, it, test } from 'vitest';
import type { BuildState } from '../../server/deployments/orchestrator-client.js';
import { forgetBuild, noteAsked, noteBuild, noteBuildEnded, notePreviousEnded, readStanding, switchLive } from '../../server/deployments/standing.js';
import { acquire } from '../../server/lease/acquire.js';
import { LeaseLostError } from '../../server/lease/errors.js';
import type { Lease } from '../../server/lease/lease.js';
import { deployments } from '../../server/lease/queues.js';
import { causes } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { accepted, deskOf, newApp } from './world.js';

const alice = { workerId: 'alice-1', version: 'v1', leaseSeconds: 60 };
const released: BuildState = { state: 'released', releaseId: 'release-7', url: 'https://app.example', error: null };
let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

/** Every step of a driver that reads or changes the row. */
const steps: [string, (lease: Lease) => Promise<unknown>][] = [
  ['reads where it stands', (lease) => readStanding(database.pool, lease)],
  ['notes that a build was asked for', (lease) => noteAsked(database.pool, lease)],
  ['notes the build', (lease) => noteBuild(database.pool, lease, 'build-7')],
  ['notes the end of the build', (lease) => noteBuildEnded(database.pool, lease)],
  ['forgets the build', (lease) => forgetBuild(database.pool, lease)],
  ['notes the end of the build before', (lease) => notePreviousEnded(database.pool, lease, 'build-6', released)],
  ['switches what is live', (lease) => switchLive(database.pool, lease, released)],
];

/** A publish that Alice drives under its second token. */
async function driven(): Promise<Lease> {
  await database.pool.query('delete from deployments');
  const id = await accepted(deskOf(database.pool), newApp());
  await database.pool.query(`update deployments set lease_token = 1 where id = $1`, [id]);
  const [lease] = await acquire(database.pool, deployments, alice, 1);
  expect(lease).toMatchObject({ id, token: '2', row: { publish_no: 1 } });
  return lease!;
}

const picture = async ({ id }: Lease) => (await database.pool.query('select to_jsonb(d) as row from deployments d where id = $1', [id])).rows[0].row as object;

describe.each(steps)('a driver that %s', (_, step) => {
  it('may, while the lease is its own', async () => {
    const lease = await driven();
    await step(lease);
    expect(await causes(database.pool, lease.id)).not.toContain('late_write');
  });

  it.each([
    ['under a token that is not the newest', (lease: Lease) => ({ ...lease, token: '1' }), ''],
    ['for a publish that is not the newest', (lease: Lease) => ({ ...lease, row: { ...lease.row, publish_no: 0 } }), ''],
    ['of a row that nobody drives any more', (lease: Lease) => lease, `update deployments set worker_id = null, lease_expires_at = null where id = $1`],
    ['of a publish that has ended', (lease: Lease) => lease, `update deployments set state = 'failed', finished_at = now(), worker_id = null, lease_expires_at = null, heartbeat_at = null, error_code = 'build_failed' where id = $1`],
  ])('may not %s, and changes nothing', async (_name, stale, meanwhile) => {
    const lease = await driven();
    if (meanwhile) await database.pool.query(meanwhile, [lease.id]);
    const before = await picture(lease);
    await expect(step(stale(lease))).rejects.toThrow(LeaseLostError);
    expect(await picture(lease)).toEqual(before);
  });
});

test('a release does not take the place of a newer one', async () => {
  const lease = await driven();
  await database.pool.query(`update deployments set live_release = '{"releaseId":"release-9","url":"https://newer.example","publishNo":2}' where id = $1`, [lease.id]);
  const before = await picture(lease);
  await expect(switchLive(database.pool, lease, released)).rejects.toThrow(LeaseLostError);
  expect(await picture(lease)).toEqual(before);
});
