/** Polls that arrive together are answered by one statement: each with its own answer, whatever becomes of the others. */
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PARSE_JOB_TAG } from '../../server/api/parse-job.js';
import { createAuthenticate } from '../../server/api/token.js';
import { insertApiToken, newApiToken, revokeApiToken } from '../../server/operations/accounts.js';
import { secretHash } from '../../server/operations/secret.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob } from '../support/factories.js';
import { until } from '../support/until.js';
import { startWeb, type WebUnderTest } from '../http/web-under-test.js';

interface Line { event: string; requestId: string; res: { status: number | null } }

const lines: Line[] = [];
let database: TestDatabase;
let web: WebUnderTest;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }) as never });
});
afterAll(() => web.close());

/** A token that was used just now, so that no use of it is noted. */
async function tokenNamed(name: string): Promise<string> {
  const token = newApiToken();
  await insertApiToken(database.pool, { id: uuidv7(), name, sha256: secretHash(token), scopes: ['api:read'], expiresInDays: null });
  await database.pool.query('update api_tokens set last_used_at = now() where name = $1', [name]);
  return token;
}

async function jobWithFile(): Promise<{ id: string; tag: string }> {
  const { id } = await insertParseJob(database.pool);
  await insertParseItem(database.pool, { job_id: id });
  const { rows } = await database.pool.query<{ tag: string }>(`select (${PARSE_JOB_TAG}) as tag from (values ($1::uuid)) as asked (also)`, [id]);
  return { id, tag: rows[0]!.tag };
}

function poll(token: string, job: { id: string; tag: string }, more: RequestInit & { id?: string } = {}) {
  return fetch(`${web.url}/api/parse-jobs/${job.id}`, { ...more, headers: { 'authorization': `Bearer ${token}`, 'if-none-match': `"${job.tag}"`, ...(more.id ? { 'x-request-id': more.id } : {}) } });
}

/** Tokens cannot be read meanwhile: what polls waits. */
async function whileTokensAreLocked(work: (waiting: () => Promise<number[]>) => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query('begin; lock table api_tokens in access exclusive mode');
    await work(() => until(async () => {
      // Not within the transaction: there it stays as it was at the first look.
      const { rows } = await database.pool.query<{ pid: number }>(`select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%api_tokens%'`);
      return rows.length > 0 && rows.map(({ pid }) => pid);
    }, { what: 'a statement that waits for the lock' }));
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('calls that come together are one statement, and each is told who it is and what it asked for', async () => {
  const pool = database.createPool();
  let statements = 0;
  pool.on('acquire', () => { statements += 1; });
  const authenticate = createAuthenticate(pool, PARSE_JOB_TAG);
  const jobs = await Promise.all(Array.from({ length: 5 }, jobWithFile));
  await database.pool.query('update parse_jobs set version = version + 7 where id = $1', [jobs[3]!.id]);
  const tokens = await Promise.all(Array.from({ length: 3 }, (_, n) => tokenNamed(`together ${n}`)));
  const calls = Array.from({ length: 40 }, (_, n) => ({ token: n % 3, job: n % 5 }));
  const answers = await Promise.all(calls.map(({ token, job }) => authenticate(`Bearer ${tokens[token]}`, jobs[job]!.id)));
  expect(statements).toBe(1);
  expect(answers.map(({ caller }) => caller.name)).toEqual(calls.map(({ token }) => `together ${token}`));
  expect(answers.map(({ alongside }, n) => alongside === jobs[n % 5]!.tag)).toEqual(calls.map(({ job }) => job !== 3));
});

test('more calls than one statement takes are all answered', async () => {
  const authenticate = createAuthenticate(database.createPool(), PARSE_JOB_TAG);
  const [token, job] = [await tokenNamed('of very many'), await jobWithFile()];
  const answers = await Promise.all(Array.from({ length: 1_234 }, (_, n) => authenticate(`Bearer ${token}`, n % 2 === 0 ? job.id : undefined)));
  expect(answers.filter(({ alongside }) => alongside === job.tag).length).toBe(617);
  expect(answers.filter(({ alongside }) => alongside === null).length).toBe(617);
});

test('among polls at once an unknown, revoked or expired token, a changed, unknown or malformed job each get their own answer', async () => {
  const [good, other, revoked, expired] = await Promise.all(['good', 'other', 'revoked', 'expired'].map(tokenNamed)) as [string, string, string, string];
  const [job, changed] = [await jobWithFile(), await jobWithFile()];
  await revokeApiToken(database.pool, 'revoked');
  await database.pool.query(`update api_tokens set expires_at = now() where name = 'expired'`);
  await database.pool.query('update parse_items set version = version + 1 where job_id = $1', [changed.id]);
  const cases = [
    [good, job, 304], [revoked, job, 401], [other, job, 304], [good, changed, 200], [newApiToken(), job, 401], [expired, job, 401],
    [good, { ...job, id: uuidv7() }, 404], [good, { ...job, id: 'nonsense' }, 404], [other, { ...job, tag: 'never' }, 200],
  ] as const;
  const rounds = Array.from({ length: 10 }, () => cases).flat();
  const answers = await Promise.all(rounds.map(async ([token, asked]) => {
    const response = await poll(token, asked);
    const text = await response.text();
    return [response.status, text === '' ? asked.id : (JSON.parse(text) as { jobId?: string }).jobId ?? null];
  }));
  expect(answers).toEqual(rounds.map(([, asked, status]) => [status, status < 400 ? asked.id : null]));
});

test('a token that is revoked while polls of it wait is refused to all of them', async () => {
  const [token, job] = [await tokenNamed('revoked meanwhile'), await jobWithFile()];
  const client = await database.pool.connect();
  try {
    await client.query('begin; lock table api_tokens in access exclusive mode');
    const polls = Array.from({ length: 5 }, () => poll(token, job));
    await client.query(`update api_tokens set revoked_at = now() where name = 'revoked meanwhile'`);
    await client.query('commit');
    expect((await Promise.all(polls)).map(({ status }) => status)).toEqual(Array(5).fill(401));
  } finally {
    client.release();
  }
});

test('a statement that fails fails all who waited for it, truthfully, and nobody after them', async () => {
  const [token, job] = [await tokenNamed('cut off'), await jobWithFile()];
  await whileTokensAreLocked(async (waiting) => {
    const authenticate = createAuthenticate(web.world.pool, PARSE_JOB_TAG);
    const calls = Promise.allSettled(Array.from({ length: 4 }, () => authenticate(`Bearer ${token}`, job.id)));
    const polled = poll(token, job);
    let ended = 0;
    while (ended < 2) {
      const pids = await waiting();
      ended += pids.length;
      await onServer((client) => client.query('select pg_terminate_backend(pid, 5000) from unnest($1::int[]) as pid', [pids]));
    }
    expect((await calls).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    const response = await polled;
    expect([response.status, (await response.json() as { code: string }).code]).toEqual([503, 'database_unreachable']);
  });
  expect((await poll(token, job)).status).toBe(304);
});

test('a client that leaves while its poll waits takes no answer from the others, and is one line without a status', async () => {
  const [token, job] = [await tokenNamed('left'), await jobWithFile()];
  const leaving = new AbortController();
  let rest: Promise<Response[]> | undefined;
  await whileTokensAreLocked(async (waiting) => {
    const left = poll(token, job, { signal: leaving.signal, id: 'who-leaves' }).then(() => 'answered', () => 'gone');
    rest = Promise.all(Array.from({ length: 3 }, () => poll(token, job)));
    await waiting();
    leaving.abort();
    expect(await left).toBe('gone');
    await until(() => lines.some(({ requestId }) => requestId === 'who-leaves'), { what: 'its log line' });
  });
  expect((await rest!).map(({ status }) => status)).toEqual([304, 304, 304]);
  expect(lines.filter(({ event, requestId }) => event === 'request' && requestId === 'who-leaves').map(({ res }) => res.status)).toEqual([null]);
});
