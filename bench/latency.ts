/**
 * How soon a row is begun that comes into an idle queue: from before its enqueue to its handler, our worker process beside graphile-worker 0.17,
 * each in a process of its own on the same durable Postgres, interleaved.
 */
import { fork } from 'node:child_process';
import path from 'node:path';
import { resetGraphile } from './drain-graphile.js';
import { resetOurs } from './drain-queue.js';
import { atLeast, goalTable, median, table, type Report } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

const JOBS = Number(process.env.BENCH_JOBS ?? 200);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SLOTS = 24;

interface Contender { name: string; module: string; reset(server: BenchServer, jobs: number): Promise<void> }

const ours: Contender = { name: 'leaseboard', module: 'latency-ours-process.ts', reset: resetOurs };
const graphile: Contender = { name: 'graphile-worker, defaults', module: 'latency-graphile-process.ts', reset: resetGraphile };

export async function run(): Promise<Report> {
  const server = await startBenchServer();
  const measured = new Map<Contender, number[][]>([[ours, []], [graphile, []]]);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of round % 2 === 0 ? [ours, graphile] : [graphile, ours]) measured.get(contender)!.push(await measure(server, contender));
    }
  } finally {
    await server.stop();
  }
  return report(measured);
}

async function measure(server: BenchServer, { name, module, reset }: Contender): Promise<number[]> {
  await reset(server, 0);
  const child = fork(path.join(import.meta.dirname, module), { execArgv: ['--import', 'tsx'], env: { ...process.env, BENCH_URL: server.url, BENCH_SLOTS: String(SLOTS), BENCH_JOBS: String(JOBS) } });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { waits } = await new Promise<{ waits: number[] }>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it had measured`)));
  });
  child.disconnect();
  await ended;
  return waits;
}

function percentile(waits: readonly number[], share: number): number {
  return [...waits].sort((a, b) => a - b)[Math.min(waits.length - 1, Math.floor(waits.length * share))]!;
}

function report(measured: Map<Contender, number[][]>): Report {
  const of = (contender: Contender, share: number) => measured.get(contender)!.map((waits) => percentile(waits, share));
  const ratio = (share: number) => median(of(graphile, share).map((theirs, round) => theirs / of(ours, share)[round]!));
  const goals = [atLeast('graphile-worker against ours, p50', ratio(0.5), 1.67), atLeast('graphile-worker against ours, p99', ratio(0.99), 1)];
  const rows = [...measured.keys()].map((contender) => [contender.name, ...[0.5, 0.95, 0.99].map((share) => median(of(contender, share)).toFixed(1))]);
  const text = [
    `one row at a time into an idle queue, ${SLOTS} slots, one worker process, synchronous commit on, ${ROUNDS} interleaved rounds of ${JOBS}; ms from enqueue to handler`, '',
    table(['', 'p50', 'p95', 'p99'], rows), '', goalTable(goals),
  ].join('\n');
  return { name: 'latency', text, figures: Object.fromEntries([...measured].map(([contender, waits]) => [contender.name, waits])), goals };
}
