import { makeWorkerUtils } from 'graphile-worker';
import type { BenchServer } from './server.js';

/** Empties graphile-worker's tables and enqueues the same number of trivial jobs. */
export async function resetGraphile({ url, pool }: BenchServer, jobs: number): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: url });
  try {
    await utils.migrate();
    await pool.query('truncate graphile_worker._private_jobs');
    await pool.query(`select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec, '{"identifier":"noop","payload":{}}') from generate_series(1, $1)))`, [jobs]);
    await pool.query('vacuum analyze graphile_worker._private_jobs');
  } finally {
    await utils.release();
  }
}
