/**
 * Every search form over a long history of all queues, run with exactly the statements that the console runs: the kind of plan, p50 and p99,
 * and how much longer the same search takes when it may use no index. `-- --rows N` (five million rows over the queues by default).
 */
import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { parseArgs } from 'node:util';
import { recogniseForms } from '../server/console/find-forms.js';
import { endedByName, newestByName, openByName } from '../server/console/find-names.js';
import * as queries from '../server/console/find-queries.js';
import { find } from '../server/console/find.js';
import { createKysely } from '../server/db/kysely.js';
import { fillQueues, rowsOf, sessionsOf } from './find-rows.js';
import { atLeast, goalTable, median, table, type Goal, type Report } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

const DEFAULT_ROWS = 5_000_000;
const ROUNDS = 60;
/** Without an index a search reads whole tables: seconds. */
const SLOW_ROUNDS = 3;
const SLOW_TIMEOUT_MS = 120_000;
/** The console's own limit (ms): server/console/read.ts. */
const STATEMENT_TIMEOUT_MS = 3_000;

type Kysely = ReturnType<typeof createKysely>;
/** Another search of the same form in each round, so that no round finds what the last one has read. */
interface Form { name: string; query: (round: number) => RawBuilder<unknown>; indexless: boolean }
interface Measured { name: string; rows: number; plan: string; scans: boolean; p50: number; p99: number; slow: number | null }

export async function run(): Promise<Report> {
  const { values } = parseArgs({ args: process.argv.slice(2), allowPositionals: true, strict: false, options: { rows: { type: 'string' } } });
  const rows = Number(values.rows ?? DEFAULT_ROWS);
  if (!Number.isInteger(rows) || rows < 10_000) throw new Error(`expected --rows to be a whole number from 10000 on, got ${String(values.rows)}`);
  const server = await startBenchServer();
  try {
    const started = performance.now();
    await fillQueues(server.pool, rows);
    process.stdout.write(`${rows} rows made in ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
    const kysely = createKysely(server.pool);
    const measured: Measured[] = [];
    for (const form of await formsOver(server, rows)) measured.push(await measure(kysely, form));
    return report(rows, measured, await measureWhole(kysely, rows));
  } finally {
    await server.stop();
  }
}

/** Names that exist: they follow from a row's number; ids are read. */
async function formsOver({ pool }: BenchServer, total: number): Promise<Form[]> {
  const ids = async (name: string) => (await pool.query<{ id: string }>(`select id from ${name} tablesample system_rows(${ROUNDS})`)).rows.map((row) => row.id);
  await pool.query('create extension if not exists tsm_system_rows');
  const [items, uploads] = [await ids('parse_items'), await ids('parse_jobs')];
  const at = (list: readonly string[], round: number) => list[round % list.length]!;
  const user = (round: number) => (round * 7919) % Math.floor(sessionsOf(total) / 4);
  const number = (round: number) => 1 + ((round * 104_729) % rowsOf('parse_items', total));
  const start = (id: string) => recogniseForms(id.slice(0, 18)).id.range!;
  return [
    { name: 'id, whole', indexless: true, query: (round) => queries.rowsByRange([at(items, round), at(items, round)]) },
    { name: 'id, first 16 digits', indexless: true, query: (round) => queries.rowsByRange(start(at(items, round))) },
    { name: 'id, last 8 digits', indexless: true, query: (round) => queries.rowsByTail(at(uploads, round).slice(-8)) },
    { name: 'document by id', indexless: false, query: (round) => queries.documentsByRange(start(at(items, round))) },
    { name: 'e-mail, whole', indexless: true, query: (round) => queries.sessionsOfAddress(`kunde.${user(round)}@UNI-${round % 50}.example`) },
    { name: 'e-mail, start', indexless: false, query: (round) => queries.addressesFrom(`kunde.${user(round)}`) },
    { name: 'e-mail, start of them all', indexless: false, query: () => queries.addressesFrom('kun') },
    { name: 'user', indexless: true, query: (round) => queries.sessionsOfUser(`u-${user(round)}`) },
    { name: 'session', indexless: true, query: (round) => queries.sessionsById(`s-${user(round) * 4}`) },
    { name: 'newest of 8 sessions', indexless: false, query: (round) => queries.newestOf(Array.from({ length: 8 }, (_, n) => ({ userId: `u-${user(round + n)}`, sessionId: `s-${user(round + n) * 4}` }))) },
    { name: 'app, start of slug or project', indexless: true, query: (round) => queries.deploymentsBy(`app-${(round * 4369).toString(16).slice(0, 4)}`, `app-${(round * 4369).toString(16).slice(0, 4)}`) },
    { name: 'process', indexless: false, query: (round) => queries.workersBy(`w-${round}`) },
    { name: 'file, rare part of the name', indexless: true, query: (round) => endedByName([`(${number(round)})`], 'part') },
    { name: 'file, author, topic and year', indexless: true, query: (round) => endedByName([`özdemir_modell_${1990 + (round % 34)} (${round % 10}`], 'part') },
    { name: 'file, newest 2,000', indexless: false, query: (round) => newestByName([`no such name ${round}`]) },
    { name: 'file, open ones', indexless: false, query: (round) => openByName([`no such name ${round}`]) },
  ];
}

async function measure(kysely: Kysely, form: Form): Promise<Measured> {
  const answers = await timed(kysely, STATEMENT_TIMEOUT_MS, false, ROUNDS, form);
  const times = answers.slice(1).map((answer) => answer.ms);   // the first one reads catalogs
  const slow = form.indexless ? await timed(kysely, SLOW_TIMEOUT_MS, true, SLOW_ROUNDS, form) : null;
  const { plan, scans } = await planOf(kysely, form.query(1));
  return {
    name: form.name, rows: Math.max(...answers.map((answer) => answer.rows)), plan, scans, p50: median(times), p99: percentile(times, 0.99),
    slow: slow && median(slow.map((answer) => answer.ms)),
  };
}

/** Planning and execution as the server clocks them: what the network and a busy client add is the same for every form. */
function timed(kysely: Kysely, limitMs: number, indexless: boolean, rounds: number, form: Form): Promise<{ ms: number; rows: number }[]> {
  return kysely.transaction().execute(async (tx) => {
    const off = indexless ? 'off' : 'on';
    await sql`select set_config('statement_timeout', ${String(limitMs)}, true), set_config('enable_indexscan', ${off}, true),
      set_config('enable_indexonlyscan', ${off}, true), set_config('enable_bitmapscan', ${off}, true)`.execute(tx);
    const answers = [];
    for (let round = 0; round < rounds; round++) {
      const { rows } = await sql<{ 'QUERY PLAN': { 'Planning Time': number; 'Execution Time': number; Plan: { 'Actual Rows': number } }[] }>`explain (analyze, timing off, format json) ${form.query(round)}`.execute(tx);
      const told = rows[0]!['QUERY PLAN'][0]!;
      answers.push({ ms: told['Planning Time'] + told['Execution Time'], rows: told.Plan['Actual Rows'] });
    }
    return answers;
  });
}

/** The kinds of node that reach a table, and whether any of them reads a table of a queue from end to end. */
async function planOf(kysely: Kysely, query: RawBuilder<unknown>): Promise<{ plan: string; scans: boolean }> {
  interface Node { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Node[] }
  const { rows } = await sql<{ 'QUERY PLAN': { Plan: Node }[] }>`explain (format json) ${query}`.execute(kysely);
  const nodes = flatten(rows[0]!['QUERY PLAN'][0]!.Plan);
  function flatten(node: Node): Node[] {
    return [node, ...(node.Plans ?? []).flatMap(flatten)];
  }
  const indexes = new Set(nodes.flatMap((node) => node['Index Name'] ?? []));
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && queueTables.has(node['Relation Name'] ?? '')).map((node) => node['Relation Name']!);
  return { plan: scanned.length > 0 ? `reads ${[...new Set(scanned)].join(', ')} whole` : [...indexes].join(', ') || 'small tables', scans: scanned.length > 0 };
}

const queueTables = new Set(['parse_jobs', 'parse_items', 'analysis_jobs', 'job_citations', 'deployments']);

/** What somebody waits for: everything that one input may be, through the console's own function. */
async function measureWhole(kysely: Kysely, total: number): Promise<{ input: string; p50: number; p99: number }[]> {
  const inputs = ['kunde.7@uni-3.example', 'kunde.7', 'u-7', 's-28', 'müller', 'özdemir_modell', `(${Math.floor(rowsOf('parse_items', total) / 3)})`, 'no such name at all', 'pdf'];
  const answers = [];
  for (const input of inputs) {
    const times: number[] = [];
    for (let round = 0; round < 12; round++) {
      const started = performance.now();
      await find(kysely, input);
      if (round > 0) times.push(performance.now() - started);
    }
    answers.push({ input, p50: median(times), p99: percentile(times, 0.99) });
  }
  return answers;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

function report(rows: number, measured: readonly Measured[], whole: Awaited<ReturnType<typeof measureWhole>>): Report {
  const ms = (value: number) => value.toFixed(value < 10 ? 2 : 0);
  const goals: Goal[] = [
    atLeast('share of the forms whose plan reads no table of a queue whole', measured.filter((form) => !form.scans).length / measured.length, 1),
    atLeast('console\'s statement timeout against the slowest p99', STATEMENT_TIMEOUT_MS / Math.max(...measured.map((form) => form.p99)), 1),
  ];
  const text = [
    `${rows} rows over all queues, ${ROUNDS} searches a form, milliseconds of planning and execution`, '',
    table(['form', 'hits', 'p50', 'p99', 'no index', 'ratio'], measured.map((form) => [form.name, String(form.rows), ms(form.p50), ms(form.p99),
      form.slow === null ? '' : ms(form.slow), form.slow === null ? '' : `${(form.slow / form.p50).toFixed(0)} ×`])), '',
    table(['form', 'indexes in its plan'], measured.map((form) => [form.name, form.plan])), '',
    table(['one input, all forms, as the page waits for it', 'p50', 'p99'], whole.map(({ input, p50, p99 }) => [input, ms(p50), ms(p99)])), '', goalTable(goals),
  ].join('\n');
  return { name: 'find', text, figures: { rows, forms: measured, whole }, goals };
}
