/**
 * GET /api/parse-jobs/:id as the product's backend polls it, over connections that are kept, of the web process as it ships (token, log line and
 * all), beside an Express app whose one route answers nothing: requests a second, processor time of the server, statements at Postgres.
 *
 * Bars: half the rate of the empty route, one statement a poll at most that reads the job (by its primary key), 304 whenever nothing has changed.
 */
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createApiToken } from '../server/operations/accounts.js';
import { insertParseItem, insertParseJob } from '../tests/support/factories.js';
import { processCpuUs } from './postgres-cpu.js';
import { atLeast, atMost, goalTable, median, spread, table, type Report } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';
import type { Polled, Polls } from './status-clients-process.js';
import { startWeb } from './web.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const REQUESTS = Number(process.env.BENCH_JOBS ?? 10_000);
const CLIENTS = 100;
const FILES = 3;

interface Measured { rate: number; cpuUs: number; statuses: Record<string, number> }
interface Contender { name: string; pid: number; polls: Polls }
interface Statement { query: string; calls: number }

export async function run(): Promise<Report> {
  const server = await startBenchServer({ shared_preload_libraries: 'pg_stat_statements' });
  const web = await startWeb(server);
  const empty = await forked<{ port: number }>('status-empty-process.ts');
  const clients = fork(path.join(import.meta.dirname, 'status-clients-process.ts'), { execArgv: ['--import', 'tsx'] });
  try {
    const jobs = await uploads(server);
    const polls = { port: web.port, connections: CLIENTS, requests: REQUESTS, token: (await createApiToken(server.pool, 'bench'))!, paths: jobs.map((id) => `/api/parse-jobs/${id}`), remember: true };
    const contenders: Contender[] = [
      { name: 'empty route', pid: empty.child.pid!, polls: { ...polls, port: empty.said.port, paths: ['/empty'] } },
      { name: 'empty route of the web process (/healthz)', pid: web.pid, polls: { ...polls, paths: ['/healthz'] } },
      { name: 'job status, unchanged', pid: web.pid, polls },
      { name: 'job status, in full', pid: web.pid, polls: { ...polls, remember: false } },
    ];
    const measured = new Map(contenders.map((contender) => [contender, [] as Measured[]]));
    for (const contender of contenders) await measure(clients, contender); // compiles
    const statements = await statementsOf(server, () => measure(clients, contenders[2]!));
    for (let round = 0; round < ROUNDS; round++) {
      for (let n = 0; n < contenders.length; n++) {
        const contender = contenders[(round + n) % contenders.length]!;
        measured.get(contender)!.push(await measure(clients, contender));
      }
    }
    return report(measured, contenders, statements);
  } finally {
    clients.disconnect();
    empty.child.disconnect();
    await web.stop();
    await server.stop();
  }
}

async function forked<T>(file: string): Promise<{ child: ChildProcess; said: T }> {
  const child = fork(path.join(import.meta.dirname, file), { execArgv: ['--import', 'tsx'] });
  return { child, said: await answer<T>(child) };
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null) => reject(new Error(`a process of the bench ended with ${code}`));
    child.once('exit', died).once('message', (message) => {
      child.off('exit', died);
      resolve(message as T);
    });
  });
}

/** One job a client; nobody works on them, so that nothing changes. */
async function uploads({ pool }: BenchServer): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < CLIENTS; n++) {
    const { id } = await insertParseJob(pool, { state: 'succeeded', total_children: FILES });
    for (let file = 0; file < FILES; file++) await insertParseItem(pool, { job_id: id, state: 'succeeded' });
    ids.push(id);
  }
  await pool.query('vacuum analyze parse_jobs, parse_items');
  return ids;
}

async function measure(clients: ChildProcess, { pid, polls }: Contender): Promise<Measured> {
  const before = processCpuUs(pid);
  clients.send(polls);
  const { ms, statuses } = await answer<Polled>(clients);
  return { rate: REQUESTS / (ms / 1000), cpuUs: (processCpuUs(pid) - before) / (REQUESTS + CLIENTS), statuses };
}

/** What Postgres was asked meanwhile: statements, with their calls a poll. */
async function statementsOf({ pool }: BenchServer, work: () => Promise<unknown>): Promise<Statement[]> {
  await pool.query('create extension if not exists pg_stat_statements');
  await pool.query('select pg_stat_statements_reset()');
  await work();
  const { rows } = await pool.query<Statement>(`select query, calls::float8 / $1 as calls from pg_stat_statements where calls >= $1 / 100.0 order by calls desc`, [REQUESTS + CLIENTS]);
  return rows.map(({ query, calls }) => ({ query: query.replace(/\s+/g, ' '), calls }));
}

function report(measured: Map<Contender, Measured[]>, contenders: readonly Contender[], statements: Statement[]): Report {
  const [empty, , unchanged] = contenders as [Contender, Contender, Contender];
  const of = (contender: Contender, figure: 'rate' | 'cpuUs') => measured.get(contender)!.map((one) => one[figure]);
  const unchangedAnswers = measured.get(unchanged)!.reduce((sum, one) => sum + (one.statuses[304] ?? 0), 0);
  const goals = [
    atLeast('job status, unchanged, against an empty route: requests a second', median(of(unchanged, 'rate').map((rate, round) => rate / of(empty, 'rate')[round]!)), 0.5),
    atMost('statements a poll that read the job', statements.filter(({ query }) => query.includes('parse_jobs')).reduce((sum, { calls }) => sum + calls, 0), 1),
    atLeast('share answered 304 where nothing had changed', unchangedAnswers / (REQUESTS * ROUNDS), 1),
  ];
  const rows = contenders.map((contender) => [contender.name, median(of(contender, 'rate')).toFixed(0), `±${(spread(of(contender, 'rate')) * 100).toFixed(0)} %`, median(of(contender, 'cpuUs')).toFixed(0)]);
  const text = [
    `${CLIENTS} connections, ${REQUESTS} requests a round, ${FILES} files a job, ${ROUNDS} interleaved rounds; clients, server and Postgres share the machine`, '',
    table(['', 'requests/s (median)', 'spread', 'CPU µs/request'], rows), '',
    table(['statements, unchanged', 'a poll'], statements.map(({ query, calls }) => [query.slice(0, 100), calls.toFixed(2)])), '', goalTable(goals),
  ].join('\n');
  return { name: 'status', text, figures: { rounds: Object.fromEntries([...measured].map(([{ name }, rounds]) => [name, rounds])), statements }, goals };
}
