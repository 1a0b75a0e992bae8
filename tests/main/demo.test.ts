import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { findEmbedded } from '../../server/db/embedded.js';
import { isAlive } from '../../server/file-lock.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { createLogger } from '../../server/log.js';
import { invariantSettings } from '../lease/world.js';
import { startProcess } from '../support/processes.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
const dataDir = path.join(os.tmpdir(), `leaseboard-demo-${randomBytes(6).toString('hex')}`);
const ownFolder = path.join(dataDir, 'demo');
const SLOW = { timeoutMs: 120_000 };

afterEach(async () => {
  await (await findEmbedded({ dataDir: ownFolder, log }).catch(() => undefined))?.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

it('a demo fills a database of its own with uploads, verdicts, publishes and finished redeploys, and ends with all it has started', async () => {
  const start = startProcess('server/main/start.js', { DATA_DIR: dataDir, PORT: '0', DRAIN_SECONDS: '5', DEMO_REDEPLOY_SECONDS: '12' }, { args: ['--demo'] });
  await start.says(/Demo {7}invented people and papers, a redeploy every 12 s/, 60_000);
  const pool = new pg.Pool({ connectionString: (await findEmbedded({ dataDir: ownFolder, log }))!.url, max: 2 });
  pool.on('error', () => {});
  const some = (sql: string) => until(async () => (await pool.query(`select 1 from ${sql} limit 1`)).rowCount === 1, { ...SLOW, what: sql });
  await some(`parse_items where state = 'succeeded' and filename like '%.pdf'`);
  await some(`deployments where state = 'live'`);
  await some('job_citations where verdict is not null');
  await some(`redeploys where role = 'worker' and ended_at is not null`);
  const pids = (await pool.query<{ pid: number }>('select pid from workers where stopped_at is null and gone_at is null')).rows.map(({ pid }) => pid);
  expect(pids.some(isAlive)).toBe(true);
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
  await pool.end();
  start.kill('SIGTERM');
  expect((await start.ended).code).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(fs.existsSync(path.join(dataDir, 'postgres'))).toBe(false);
}, 300_000);
