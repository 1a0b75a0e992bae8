import { fork } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { apiToken, signedIn } from './web-under-test.js';
import { field, owner, pdfBytes } from '../api/uploads.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { requireBuiltConsole } from './built-console.js';

let database: TestDatabase;
beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
}, 300_000);

const environment = (more: Record<string, string> = {}) => ({
  DATABASE_URL: database.url, SESSION_SECRET: 'x'.repeat(40), PORT: '0', NODE_ENV: 'production', APP_VERSION: 'test-1', HEARTBEAT_SECONDS: '1', LEASE_SECONDS: '4', DRAIN_SECONDS: '5', INLINE_AFTER_SECONDS: '86400', ...more,
});

async function startWeb(more: Record<string, string> = {}): Promise<{ web: TestProcess; port: number; url: string }> {
  const web = startProcess('server/main/web.js', environment(more));
  const port = Number((await web.says(/"event":"listening".*"port":(\d+)/))[1]);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/readyz`)).ok, { what: 'ready' });
  return { web, port, url };
}

/** Sends the head of an upload and all but the end of its body; finish() sends the rest. */
async function slowUpload(port: number, token: string): Promise<{ finish(): void; answer: Promise<string> }> {
  const rest = Buffer.concat([pdfBytes(500), Buffer.from('\r\n--XX--\r\n')]);
  const begun = Buffer.concat([owner, field('userEmail', ''), Buffer.from('--XX\r\nContent-Disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n')]);
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  const answer = new Promise<string>((resolve) => socket.on('data', (chunk) => { text += chunk; }).on('close', () => resolve(text)).on('error', () => resolve(text)));
  socket.write(`POST /api/parse-sources HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: ${begun.length + rest.length}\r\n\r\n`);
  socket.write(begun);
  return { finish: () => void socket.write(rest), answer };
}

test('it registers itself, and SIGTERM lets a request in flight finish, says goodbye to streams, and leaves its last word', async () => {
  const { web, port, url } = await startWeb();
  const token = await apiToken(database);
  const { cookie } = await signedIn(database, 'admin');
  const stream = await fetch(`${url}/live?topics=workers`, { headers: { cookie } });
  expect(stream.status).toBe(200);
  const told = stream.text();
  const upload = await slowUpload(port, token);
  await until(async () => (await database.pool.query(`select 1 from workers where role = 'web' and version = 'test-1' and stopped_at is null`)).rowCount === 1);
  await until(async () => (await fetch(`${url}/metrics`, { headers: { cookie } })).ok);

  web.kill('SIGTERM');
  await until(() => fetch(`${url}/healthz`).then(() => false, () => true), { what: 'refusing new connections' });
  upload.finish();
  expect(await upload.answer).toMatch(/^HTTP\/1\.1 202 [\s\S]*connection: close/i);
  expect(await told).toMatch(/event: bye\ndata: \{"reason":"shutdown"\}/);
  expect(await web.ended).toEqual({ code: 0, signal: null });
  const { rows } = await database.pool.query(`select drained_by, stopped_at is not null as stopped, kill_deadline_at is not null as announced from workers where version = 'test-1'`);
  expect(rows).toEqual([{ drained_by: 'shutdown', stopped: true, announced: true }]);
  expect((await database.pool.query('select 1 from parse_jobs')).rowCount).toBe(1);
});

test('a request that does not finish within the drain is cut off, and the process still ends cleanly', async () => {
  const { web, port } = await startWeb({ DRAIN_SECONDS: '1', APP_VERSION: 'test-2' });
  const upload = await slowUpload(port, await apiToken(database));
  web.kill('SIGTERM');
  expect(await web.ended).toEqual({ code: 0, signal: null });
  expect(await upload.answer).not.toContain('202');
});

test('lost connections, of the pool and of the listener, end no process: it says so and recovers', async () => {
  const { web, url } = await startWeb({ APP_VERSION: 'test-3' });
  await onServer((client) => client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'leaseboard web% test-3'`));
  await until(async () => (await fetch(`${url}/readyz`)).ok, { what: 'ready again' });
  expect(web.child.exitCode).toBeNull();
  web.kill('SIGTERM');
  expect((await web.ended).code).toBe(0);
});

test('it waits for a database that is not up yet, and ends with a named error when none comes', async () => {
  const nobody = net.createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as net.AddressInfo;
  nobody.close();
  const web = startProcess('server/main/web.js', environment({ DATABASE_URL: `postgres://x:y@127.0.0.1:${port}/z` }));
  await web.says(/"event":"database_away"/);
  expect(web.child.exitCode).toBeNull();
  web.kill('SIGTERM');
  await web.ended;
});

test('when the parent that started it is gone, it ends by itself', async () => {
  const entry = path.resolve(import.meta.dirname, '../../build/server/main/web.js');
  const child = fork(entry, { env: { PATH: process.env.PATH, ...environment({ APP_VERSION: 'test-4' }) } as NodeJS.ProcessEnv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const [message] = await new Promise<[unknown]>((resolve) => child.once('message', (value) => resolve([value])));
  expect(message).toEqual({ listening: expect.any(Number) });
  child.disconnect();
  expect(await ended).toBe(0);
});
