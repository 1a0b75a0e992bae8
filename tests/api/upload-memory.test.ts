import fs from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { apiToken } from '../http/web-under-test.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { startProcess } from '../support/processes.js';
import { body, field, file, pdfBytes, uploadRaw } from './uploads.js';

let database: TestDatabase;
beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
}, 300_000);

const MB = 1024 * 1024;

/** The most memory the process ever held, in bytes. */
function peak(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

test.runIf(fs.existsSync('/proc/self/status'))('eight uploads of 40 MB at once raise the memory of the process by less than half of what they bring', async () => {
  const web = startProcess('server/main/web.js', { DATABASE_URL: database.url, SESSION_SECRET: 'x'.repeat(40), PORT: '0', NODE_ENV: 'production' });
  const port = Number((await web.says(/"event":"listening".*"port":(\d+)/))[1]);
  const token = await apiToken(database);
  await uploadRaw(port, token, body(field('userId', 'warm'), field('sessionId', 's'), file('filename="a.pdf"', pdfBytes(MB))));
  const before = peak(web.pid);
  const large = pdfBytes(40 * MB);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, k) => uploadRaw(port, token, body(field('userId', `u${k}`), field('sessionId', 's'), file('filename="a.pdf"', large)))));
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 202));
  expect(peak(web.pid) - before).toBeLessThan(160 * MB);
  web.kill('SIGTERM');
  expect((await web.ended).code).toBe(0);
}, 120_000);
