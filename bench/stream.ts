/**
 * The console's live stream at a thousand browsers: fifty people with twenty tabs each, over the web process as it ships, behind its door. Each tab
 * watches a row; rows change at 500 a second, by the engine's own statement and with a worker's hints. What a delivery costs the web process is the
 * difference to the same load with one tab a person, since hints and reads are shared; beside it a bare Node server that writes as many bytes to as
 * many connections. Latency runs from the commit's answer to the event at the client.
 *
 * Bars: 15 µs of processor a delivery (prototype: 12 to 18, of 500 bytes), p99 within the window of 100 ms and 10 more (prototype: 105). Both are
 * of an idle machine; the bare server's figure says how fast this one was.
 */
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRowHints } from '../server/bus/row-hints.js';
import { loadConfig } from '../server/config.js';
import { acquire } from '../server/lease/acquire.js';
import type { Lease } from '../server/lease/lease.js';
import { parseItems } from '../server/lease/queues.js';
import { renew } from '../server/lease/renew.js';
import { createOperator } from '../server/operations/accounts.js';
import { openSession } from '../server/operations/sessions.js';
import { insertParseItem } from '../tests/support/factories.js';
import { machineMs } from './clock.js';
import { processCpuUs } from './postgres-cpu.js';
import { atMost, goalTable, median, spread, table, type Report } from './report.js';
import { benchLog, startBenchServer, type BenchServer } from './server.js';
import type { Seen, Watch } from './stream-clients-process.js';
import { startWeb } from './web.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = 10;
const PEOPLE = 50;
/** As many streams as one person may have open: server/http/live.ts. */
const TABS = 20;
const STREAMS = PEOPLE * TABS;
const WINDOW_MS = 100;
const CHANGES_A_SECOND = 500;
const BATCH = 5;
const LEASE_SECONDS = 600;

interface Measured { cpuUs: number; share: number; deliveries: number; changes: number; waits: number[]; bytes: number[] }
interface Stage { server: BenchServer; pid: number; port: number; clients: ChildProcess; topics: Watch['topics']; leases: Lease[]; done: number }

export async function run(): Promise<Report> {
  const server = await startBenchServer();
  const web = await startWeb(server);
  const clients = forkBeside('stream-clients-process.ts');
  const plain = forkBeside('stream-plain-process.ts');
  try {
    const { port } = await answer<{ port: number }>(plain);
    const leases = await watchedRows(server);
    const stage: Stage = { server, ...web, clients, leases, done: 0, topics: await tabs(server, leases) };
    const [all, few, bare]: Measured[][] = [[], [], []];
    await measure(stage, 1); // compiles
    for (let round = 0; round < ROUNDS; round++) {
      for (const perTopic of round % 2 === 0 ? [1, TABS] : [TABS, 1]) (perTopic === 1 ? few! : all!).push(await measure(stage, perTopic));
      bare!.push(await measurePlain(stage, plain, port, median(all!.at(-1)!.bytes)));
    }
    return report(all!, few!, bare!);
  } finally {
    clients.disconnect();
    plain.disconnect();
    await web.stop();
    await server.stop();
  }
}

const forkBeside = (file: string) => fork(path.join(import.meta.dirname, file), { execArgv: ['--import', 'tsx'] });

function answer<T>(child: ChildProcess, question?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null) => reject(new Error(`a process of the bench ended with ${code}`));
    child.once('exit', died).once('message', (message) => {
      child.off('exit', died);
      resolve(message as T);
    });
    if (question) child.send(question);
  });
}

async function watchedRows({ pool }: BenchServer): Promise<Lease[]> {
  for (let n = 0; n < PEOPLE; n++) await insertParseItem(pool);
  return acquire(pool, parseItems, { workerId: 'w-bench', version: 'bench', leaseSeconds: LEASE_SECONDS }, PEOPLE);
}

async function tabs({ pool }: BenchServer, leases: Lease[]): Promise<Watch['topics']> {
  return Promise.all(leases.map(async ({ id }, n) => {
    const operator = await createOperator(pool, `operator ${n}`, 'viewer');
    return { path: `/live?topics=${encodeURIComponent(`rows:${parseItems.slug}:${id}`)}`, cookie: `lb_session=${await openSession(pool, operator!.id, 'link', { userAgent: null })}` };
  }));
}

async function measure(stage: Stage, perTopic: number): Promise<Measured> {
  const { clients, port, topics, pid } = stage;
  await answer(clients, { watch: { port, perTopic, topics } satisfies Watch });
  const [from, cpuBefore] = [machineMs(), processCpuUs(pid)];
  const commits = await change(stage);
  const seen = await answer<Seen>(clients, { seen: { until: commits.map((row) => row.at(-1)![0]) } });
  const cpuUs = processCpuUs(pid) - cpuBefore;
  const ms = machineMs() - from;
  await answer(clients, { leave: true });
  return { cpuUs, share: cpuUs / 1000 / ms, deliveries: seen.deliveries, changes: (commits.flat().length * 1000) / ms, waits: waitsOf(commits, seen.receipts), bytes: seen.bytes };
}

type Commits = [done: number, at: number][][];

/** A worker's part: a few rows a commit, a hint after it. @returns by row, when each of its changes was committed. */
async function change(stage: Stage): Promise<Commits> {
  const { leases, server: { pool } } = stage;
  const { rowsChannel } = loadConfig({});
  const hints = createRowHints({ send: (text, values) => pool.query(text, values), rowsChannel, log: benchLog });
  const commits: Commits = leases.map(() => []);
  const from = machineMs();
  for (let n = 0; n < (SECONDS * CHANGES_A_SECOND) / BATCH; n++) {
    await pause(Math.max(0, from + (n * 1000 * BATCH) / CHANGES_A_SECOND - machineMs()));
    const rows = Array.from({ length: BATCH }, (_, k) => (n * BATCH + k) % leases.length);
    const done = ++stage.done;
    await renew(pool, rows.map((row) => ({ queue: parseItems.table, id: leases[row]!.id, token: leases[row]!.token, progress: { done, total: 1e9 } })), LEASE_SECONDS);
    const at = machineMs();
    hints.changed(parseItems.table, rows.map((row) => leases[row]!.id));
    for (const row of rows) commits[row]!.push([done, at]);
  }
  await hints.flush();
  return commits;
}

/** A change that a later one overtook within the window has arrived with that one. */
function waitsOf(commits: Commits, receipts: Seen['receipts']): number[] {
  return commits.flatMap((changes, row) => changes.map(([done, at]) => receipts[row]!.find(([seen]) => seen >= done)![1] - at));
}

async function measurePlain({ clients }: Stage, plain: ChildProcess, port: number, bytes: number): Promise<Measured> {
  await answer(clients, { watch: { port, perTopic: TABS, topics: Array.from({ length: PEOPLE }, () => ({ path: '/', cookie: '' })) } satisfies Watch });
  const [from, cpuBefore] = [machineMs(), processCpuUs(plain.pid!)];
  await answer(plain, { bytes: Math.round(bytes), seconds: SECONDS });
  const cpuUs = processCpuUs(plain.pid!) - cpuBefore;
  const ms = machineMs() - from;
  await answer(clients, { leave: true });
  return { cpuUs, share: cpuUs / 1000 / ms, deliveries: (STREAMS * SECONDS * 1000) / WINDOW_MS, changes: 0, waits: [], bytes: [bytes] };
}

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;
}

function report(all: Measured[], few: Measured[], bare: Measured[]): Report {
  const each = all.map((one, round) => (one.cpuUs - few[round]!.cpuUs) / (one.deliveries - few[round]!.deliveries));
  const whole = (rounds: Measured[]) => rounds.map((one) => one.cpuUs / one.deliveries);
  const latency = (rounds: Measured[], share: number) => median(rounds.map(({ waits }) => percentile(waits, share)));
  const bytes = median(all.flatMap((one) => one.bytes));
  const goals = [
    atMost('µs of processor a delivery', median(each), 15),
    atMost('commit → event, p99, against the window and 10 ms', latency(all, 0.99) / (WINDOW_MS + 10), 1),
  ];
  const row = (name: string, rounds: Measured[], us: number[], shows = true) => [
    name, median(rounds.map((one) => one.deliveries)).toFixed(0), `${(median(rounds.map((one) => one.share)) * 100).toFixed(0)} %`, median(us).toFixed(1), `±${(spread(us) * 100).toFixed(0)} %`,
    ...(shows ? [latency(rounds, 0.5).toFixed(0), latency(rounds, 0.99).toFixed(0), median(rounds.map((one) => one.changes)).toFixed(0)] : ['', '', '']),
  ];
  const text = [
    `${SECONDS} s a round, ${ROUNDS} interleaved rounds, median event ${bytes.toFixed(0)} bytes; clients, server and Postgres share the machine`, '',
    table(['', 'deliveries', 'of a core', 'CPU µs/delivery', 'spread', 'p50 ms', 'p99 ms', 'changes/s'], [
      row(`${STREAMS} streams, everything`, all, whole(all)), row(`${PEOPLE} streams, everything`, few, whole(few)),
      row('the difference: deliveries alone', all, each, false), row(`bare Node, ${STREAMS} streams`, bare, whole(bare), false)]), '',
    `a delivery against a bare write of as many bytes: ${median(each.map((us, round) => us / whole(bare)[round]!)).toFixed(2)}`, '', goalTable(goals),
  ].join('\n');
  return { name: 'stream', text, figures: { all, few, bare, bytes }, goals };
}
