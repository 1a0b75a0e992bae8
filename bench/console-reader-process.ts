import pg from 'pg';
import { createListener } from '../server/bus/listener.js';
import { loadConfig } from '../server/config.js';
import { benchLog } from './server.js';

const config = loadConfig({});
const url = process.env.BENCH_URL!;
const pool = new pg.Pool({ connectionString: url, max: 2 });
const listener = createListener({ connection: { connectionString: url, application_name: 'bench console' }, channels: { rows: config.rowsChannel }, log: benchLog });
let reading: Promise<unknown> | undefined;
const pending = new Set<string>();

listener.subscribe('rows', (message) => {
  if ('ids' in message) for (const id of message.ids) pending.add(id);
  read();
});

function read(): void {
  if (reading || pending.size === 0) return;
  const ids = [...pending];
  pending.clear();
  reading = pool.query(`select id, state, lease_token::text, attempt, worker_id, lease_expires_at, heartbeat_at, version::text from bench_rows where id = any ($1::uuid[])`, [ids])
    .finally(() => { reading = undefined; read(); });
}

listener.onActive(() => process.send!('listening'));
listener.start();
process.once('disconnect', () => { void Promise.allSettled([listener.close(), reading ?? Promise.resolve()]).then(() => pool.end()).then(() => process.exit(0)); });
