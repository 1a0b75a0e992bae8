/**
 * How fast a full engine drains trivial rows: our worker process (tokens, events, invariants, its real loops) beside graphile-worker 0.17
 * at its defaults and at its documented best, each in a process of its own, on the same durable Postgres, interleaved. The CPU time a row, of all
 * of Postgres and of the worker from its start on, says the same of a machine that others use too.
 */
import { fork } from 'node:child_process';
import path from 'node:path';
import { atLeast, goalTable, median, spread, table, type Report } from './report.js';
import { postgresCpuUs } from './postgres-cpu.js';
import { startBenchServer, type BenchServer } from './server.js';
import { resetGraphile } from './drain-graphile.js';
import { resetOurs } from './drain-queue.js';

const JOBS = Number(process.env.BENCH_JOBS ?? 20_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SLOTS = 24;

interface Measured { rate: number; postgresUs: number; workerUs: number }

interface Contender {
  name: string;
  module: string;
  mode: string;
  reset(server: BenchServer, jobs: number): Promise<void>;
  /** What goes on meanwhile. @returns what ends it. */
  meanwhile?(server: BenchServer): Promise<() => Promise<void>>;
}

const contenders: Contender[] = [
  { name: 'leaseboard', module: 'drain-ours-process.ts', mode: 'detached', reset: resetOurs },
  { name: 'leaseboard, console attached', module: 'drain-ours-process.ts', mode: 'attached', reset: resetOurs },
  { name: 'leaseboard, an old transaction open', module: 'drain-ours-process.ts', mode: 'detached', reset: resetOurs, meanwhile: oldTransaction },
  { name: 'graphile-worker, defaults', module: 'drain-graphile-process.ts', mode: 'defaults', reset: resetGraphile },
  { name: 'graphile-worker, documented best', module: 'drain-graphile-process.ts', mode: 'best', reset: resetGraphile },
];

export async function run(): Promise<Report> {
  const server = await startBenchServer();
  const measured = new Map(contenders.map((contender) => [contender.name, [] as Measured[]]));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of rotated(round)) measured.get(contender.name)!.push(await measure(server, contender));
    }
  } finally {
    await server.stop();
  }
  return report(measured);
}

/** Each round begins with another contender, so that none always follows the same one. */
function rotated(round: number): Contender[] {
  return [...contenders.slice(round % contenders.length), ...contenders.slice(0, round % contenders.length)];
}

/** A report or a backup somewhere: as long as it runs, no dead version of a row that it might see can be cleared away. */
async function oldTransaction({ pool }: BenchServer): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select 1 from bench_rows limit 1');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

async function measure(server: BenchServer, contender: Contender): Promise<Measured> {
  await contender.reset(server, JOBS);
  await server.pool.query('checkpoint');
  const over = await contender.meanwhile?.(server);
  const cpuBefore = await postgresCpuUs(server.pool);
  const child = fork(path.join(import.meta.dirname, contender.module), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, BENCH_URL: server.url, BENCH_MODE: contender.mode, BENCH_SLOTS: String(SLOTS), BENCH_JOBS: String(JOBS) },
  });
  try {
    const { ms, cpuUs } = await new Promise<{ ms: number; cpuUs: number }>((resolve, reject) => {
      child.once('message', resolve);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${contender.name} ended with ${code} before it had drained`)));
    });
    const postgresUs = (await postgresCpuUs(server.pool) ?? NaN) - (cpuBefore ?? NaN);
    return { rate: JOBS / (ms / 1000), postgresUs: postgresUs / JOBS, workerUs: cpuUs / JOBS };
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await ended;
    await over?.();
  }
}

function report(measured: Map<string, Measured[]>): Report {
  const of = (name: string, figure: keyof Measured) => measured.get(name)!.map((one) => one[figure]);
  const ratio = (a: string, b: string) => median(of(a, 'rate').map((rate, round) => rate / of(b, 'rate')[round]!));
  const goals = [
    atLeast('against graphile-worker at its defaults', ratio('leaseboard', 'graphile-worker, defaults'), 5),
    atLeast('against graphile-worker at its documented best', ratio('leaseboard', 'graphile-worker, documented best'), 1),
    atLeast('beside an old transaction against alone', ratio('leaseboard, an old transaction open', 'leaseboard'), 0.9),
    atLeast('console attached against detached', ratio('leaseboard, console attached', 'leaseboard'), 0.9),
  ];
  const us = (name: string, figure: 'postgresUs' | 'workerUs') => median(of(name, figure)).toFixed(0);
  const rows = contenders.map(({ name }) => [name, median(of(name, 'rate')).toFixed(0), `±${(spread(of(name, 'rate')) * 100).toFixed(0)} %`, us(name, 'postgresUs'), us(name, 'workerUs')]);
  const text = [
    `${JOBS} trivial rows, ${SLOTS} slots, one worker process, synchronous commit on, ${ROUNDS} interleaved rounds`, '',
    table(['', 'rows/s (median)', 'spread', 'Postgres CPU µs/row', 'worker CPU µs/row'], rows), '', goalTable(goals),
  ].join('\n');
  return { name: 'drain', text, figures: Object.fromEntries(measured), goals };
}
