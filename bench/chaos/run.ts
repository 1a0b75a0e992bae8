/**
 * `npm run chaos [-- --minutes N --seed S --json FILE --keep]`: two web and three worker processes under load through the public API, while things go
 * wrong as a schedule says that is drawn from the seed alone. Afterwards it waits for quiet and judges: every unit ended exactly once, the
 * invariants hold, nothing leaks, nothing was left lying. Ends with 1 and the offending rows otherwise. `--mutate` takes guards out of the SQL instead,
 * one at a time, and asks tests to notice.
 */
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { table } from '../report.js';
import { Injector, type Injected } from './faults.js';
import { Load } from './load.js';
import { drawSchedule, KINDS, type Fault } from './schedule.js';
import { MAX_CONNECTIONS, PROMISED_WAIT_MS, SETTINGS, SLACK_MS } from './settings.js';
import { buildStage, type Stage } from './stage.js';
import { judgeConnections, judgeLeaks, judgePooled, judgeRows, tell, type Offence } from './verdict.js';
import { Watch } from './watch.js';

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' }, json: { type: 'string' }, keep: { type: 'boolean', default: false },
    mutate: { type: 'boolean', default: false }, by: { type: 'string' },
  },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);
/** Connections come back and sweeps run within this (ms). */
const SETTLE_MS = 20_000;
/** The longest that the schedule waits for processes to be up (ms). */
const STAND_MS = 300_000;

if (options.mutate) await import('../../tests/mutation/token-mutation.js');
else process.exitCode = await chaos(Number(options.minutes), Number(options.seed));

async function chaos(minutes: number, seed: number): Promise<number> {
  const schedule = drawSchedule(seed, minutes);
  const stage = await buildStage();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stage.stop(options.keep).finally(() => process.exit(130)));
  let bad = true;
  try {
    say(`Chaos with seed ${seed} for ${minutes} minutes: ${schedule.length} faults are drawn. Replay: npm run chaos -- --minutes ${minutes} --seed ${seed}`);
    say(`Settings: ${Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`).join(' ')} max_connections=${MAX_CONNECTIONS}`);
    say(`Before the pool: ${stage.pooler.by}. Wrong clocks: ${stage.skewing.by}.\n`);
    await stage.fleet.start();
    const report = await run(stage, schedule, seed);
    print(report);
    bad = report.offences.length > 0;
    if (options.json) fs.writeFileSync(options.json, `${JSON.stringify({ seed, minutes, settings: SETTINGS, pooler: stage.pooler.by, clocks: stage.skewing.by, ...report }, null, 2)}\n`);
    if (bad) say(`\nLogs of all processes: ${stage.folder}`);
  } finally {
    await stage.stop(bad || options.keep);
  }
  return bad ? 1 : 0;
}

interface Report {
  faults: Injected[];
  offences: Offence[];
  facts: Record<string, number>;
  events: Record<string, number>;
  longestIdleMs: number;
}

async function run(stage: Stage, schedule: ReturnType<typeof drawSchedule>, seed: number): Promise<Report> {
  const began = performance.now();
  const now = () => Math.round(performance.now() - began);
  const [injector, load, watch] = [new Injector(stage, now), new Load(stage, seed), new Watch(stage, now)];
  const running = Promise.all([load.run(), watch.run()]);
  const stoodStillMs = await follow(stage, schedule, now, (fault) => injector.begin(fault));
  await injector.over();
  await stage.fleet.allReady();
  const quietFrom = now();
  await load.finish();
  const quietMs = now() - quietFrom;
  watch.stop();
  await running;
  const offences = await judge(stage, load, watch);
  const facts = { ...await factsOf(stage, load, watch, quietMs), 'schedule stood still for starts (ms)': stoodStillMs };
  const events = await tell(stage.admin);
  await stage.fleet.stop();
  offences.push(...stage.fleet.offences.map((rule) => ({ rule, rows: [] })), ...await settled(() => judgePooled(stage)));
  await stage.pooler.stop();
  offences.push(...await settled(() => judgeLeaks(stage)));
  return { faults: injector.injected, offences, facts, events, longestIdleMs: Math.round(watch.longestMs) };
}

/**
 * In the schedule's order and at its distances. Its clock stands still while too few processes are up: on a slow machine a start takes a minute, and
 * faults that hit nobody prove nothing. @returns for how long it stood still (ms).
 */
async function follow(stage: Stage, schedule: readonly Fault[], now: () => number, begin: (fault: Fault) => void): Promise<number> {
  let stoodStillMs = 0;
  for (const fault of schedule) {
    await pause(Math.max(0, fault.at + stoodStillMs - now()));
    const from = now();
    while (!stage.fleet.isStanding) {
      if (now() - from > STAND_MS) throw new Error(`expected a web process and two workers to be up within ${STAND_MS / 1000} s, got ${stage.fleet.slots.filter(({ ready }) => ready).map(({ name }) => name).join(', ') || 'none'}; logs: ${stage.folder}`);
      await pause(50);
    }
    stoodStillMs += now() - from;
    begin(fault);
  }
  return stoodStillMs;
}

/** Connections and parsers end within moments of what they belonged to: only what still offends after a while counts. */
async function settled(look: () => Promise<Offence[]>): Promise<Offence[]> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const offences = await look();
    if (offences.length === 0 || performance.now() > until) return offences;
    await pause(500);
  }
}

async function judge(stage: Stage, load: Load, watch: Watch): Promise<Offence[]> {
  const rows = await settled(async () => [...await judgeRows(stage, load.accepted), ...await judgeConnections(stage)]);
  return [
    ...load.offences.map((rule) => ({ rule, rows: [] })), ...rows,
    ...(watch.tooLong.length > 0 ? [{ rule: `nothing lies idle beside a free slot for more than lease + sweep + poll (${PROMISED_WAIT_MS / 1000} s, and ${SLACK_MS / 1000} s for timers)`, rows: watch.tooLong }] : []),
  ];
}

async function factsOf(stage: Stage, { accepted, client }: Load, watch: Watch, quietMs: number): Promise<Record<string, number>> {
  const { rows } = await stage.admin.query<Record<string, number>>(
    `select (select count(*)::int from parse_items) as files, (select count(*)::int from job_citations) as citations, (select count(*)::int from job_citations where verdict is not null) as verdicts,
            (select count(*)::int from deployment_attempts) as publishes, (select count(*)::int from deployment_attempts where outcome = 'lost') as "publishes overtaken after silence",
            (select count(*)::int from publish_refusals) as "publishes told of another"`);
  const { counts } = stage.stub.builds;
  return {
    uploads: accepted.uploads.length, analyses: accepted.analyses.length, ...rows[0], 'calls sent again': client.sentAgain,
    'builds asked for': counts.asked, 'builds made': counts.created, 'builds released': counts.released, 'builds refused as old': counts.refusedAtCreation + counts.refusedAtRelease,
    'processes started': stage.fleet.starts, 'starts that failed while the database was away': stage.fleet.failedStarts, 'ends whose budget ran out': stage.fleet.hurriedEnds,
    'looks for idle rows': watch.samples, 'looks with nobody free': watch.helpless, 'looks that came late': watch.late, 'quiet after (ms)': quietMs,
  };
}

/** A fault counts as survived when nothing offends at the end; an offence of a moment (a row left lying) is held against the faults around it. */
function print({ faults, offences, facts, events, longestIdleMs }: Report): void {
  const hit = faults.filter(({ from }) => from !== null);
  const moments = offences.flatMap(({ rows }) => rows.flatMap((row) => (typeof (row as { at?: unknown }).at === 'number' ? [(row as { at: number }).at] : [])));
  const timeless = offences.some(({ rows }) => !rows.some((row) => typeof (row as { at?: unknown } | null)?.at === 'number'));
  const survived = ({ from, to }: Injected) => !timeless && !moments.some((at) => at >= from! && at - to <= PROMISED_WAIT_MS + SLACK_MS);
  const counted = (of: readonly Injected[]) => [String(of.length), String(of.filter(survived).length)];
  const rows = KINDS.map((kind) => [kind, ...counted(hit.filter(({ fault }) => fault.kind === kind)), String(faults.filter(({ fault, from }) => fault.kind === kind && from === null).length)]);
  say(table(['fault', 'injected', 'survived', 'nobody there'], [...rows, ['all', ...counted(hit), String(faults.length - hit.length)]]));
  say(`\n${table(['', 'count'], Object.entries(facts).map(([name, count]) => [name, String(count)]))}`);
  say(`\nTransitions: ${Object.entries(events).map(([cause, n]) => `${cause} ${n}`).join(', ')}`);
  say(`Longest that a row lay idle beside a free slot: ${(longestIdleMs / 1000).toFixed(1)} s of ${PROMISED_WAIT_MS / 1000} s`);
  for (const { rule, rows: offending } of offences) say(`\nOFFENCE  ${rule}\n${offending.map((row) => `  ${JSON.stringify(row)}`).join('\n')}`);
  say(offences.length === 0 ? `\nSurvived: 0 lost, 0 done twice, ${hit.length} faults.` : `\nNot survived: ${offences.length} rules were broken.`);
}
