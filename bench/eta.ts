/**
 * Whether the range that support pastes into a reply is one to rely on: how often the true end lies in it. Run times are drawn from stated
 * distributions with fixed seeds; the estimate sees only what the database would have recorded by the moment at which it is asked.
 */
import { endsAfterWait, endsFrom, endsOf, rangeOf } from '../server/console/eta.js';
import type { Eta } from '../server/console/answer.js';
import { aboutUploads, calibrateUploads } from './eta-uploads.js';
import { live, recordAt, seeded, type Lived, type Scenario } from './eta-simulation.js';
import { median, table, goalTable, type Goal, type Report } from './report.js';

const MINUTE = 60_000;

export const scenarios: Scenario[] = [
  {
    name: 'light', about: 'an analysis every 40 s on average; checks log-normal, median 1.5 s, sigma 0.5; 8 slots',
    analyses: 500, slots: 8, userCap: 8, gapMs: (random) => random.exponential(40_000), burst: () => 1,
    citations: (random) => size(random.logNormal(60, 0.6)), readMs: (random, n) => random.logNormal(2_000 + 30 * n, 0.4), checkMs: (random) => random.logNormal(1_500, 0.5),
  },
  {
    name: 'heavy-tailed', about: 'an analysis every 90 s; checks Pareto above 1 s, alpha 1.5 (cut at 10 minutes); 12 slots',
    analyses: 500, slots: 12, userCap: 8, gapMs: (random) => random.exponential(90_000), burst: () => 1,
    citations: (random) => size(random.logNormal(60, 0.6)), readMs: (random, n) => random.logNormal(2_000 + 30 * n, 0.8), checkMs: (random) => Math.min(10 * MINUTE, random.pareto(1_000, 1.5)),
  },
  {
    name: 'bursty', about: '1 to 10 analyses at once, every 8 minutes on average; checks log-normal, median 2 s, sigma 0.7; 8 slots',
    analyses: 500, slots: 8, userCap: 8, gapMs: (random) => random.exponential(8 * MINUTE), burst: (random) => 1 + Math.floor(10 * random()),
    citations: (random) => size(random.logNormal(60, 0.6)), readMs: (random, n) => random.logNormal(2_000 + 30 * n, 0.4), checkMs: (random) => random.logNormal(2_000, 0.7),
  },
  {
    name: 'redeploys', about: 'light, checks of 3 s, with a redeploy every 10 minutes: drained for 5 s, a fifth of them killed (leases of 120 s run out)',
    analyses: 500, slots: 8, userCap: 8, gapMs: (random) => random.exponential(60_000), burst: () => 1,
    citations: (random) => size(random.logNormal(60, 0.6)), readMs: (random, n) => random.logNormal(2_000 + 30 * n, 0.4), checkMs: (random) => random.logNormal(3_000, 0.5),
    redeploys: { everyMs: 10 * MINUTE, drainMs: 5_000, killed: 0.2, leaseMs: 120_000 },
  },
];

function size(n: number): number {
  return Math.min(600, Math.max(3, Math.round(n)));
}

/** The record's size, as server/console/eta-samples.ts reads it. */
const RUNS = 60;
const STEPS = 40;
/** The estimate is asked once this many analyses are over. */
const WARM_UP = 60;

export interface Calibration {
  asked: number;
  answered: number;
  inside: number;
  /** Median length of the range as a share of what was truly left. */
  sharpness: number;
}

/** Asks once in the life of each analysis, at a moment drawn evenly from it. */
export function calibrate(scenario: Scenario, seed: number): Calibration {
  const lives = live(scenario, seed);
  const byEnd = [...lives].sort((a, b) => a.endedAt - b.endedAt);
  const random = seeded(seed + 1);
  const widths: number[] = [];
  const result = { asked: 0, answered: 0, inside: 0, sharpness: 0 };
  for (const life of lives.slice(WARM_UP)) {
    const now = life.createdAt + (life.endedAt - life.createdAt) * random();
    result.asked += 1;
    const eta = estimateAt(life, byEnd, now);
    if (!eta) continue;
    result.answered += 1;
    if (eta.from <= life.endedAt && life.endedAt <= eta.to) result.inside += 1;
    widths.push((eta.to - eta.from) / (life.endedAt - now));
  }
  return { ...result, sharpness: median(widths) };
}

function estimateAt(life: Lived, byEnd: readonly Lived[], now: number): Eta | null {
  const { runs, stages, waits } = recordAt(byEnd, now, RUNS, STEPS);
  if (now < life.claimedAt) return rangeOf(endsAfterWait(life.createdAt, waits, stages.map((stage) => stage.totalMs), now));
  if (now < life.readAt) return rangeOf(endsFrom(life.claimedAt, null, stages, now));
  const done = life.checks.filter((at) => at <= now);
  return rangeOf(endsOf({ units: life.citations, startedAt: life.readAt, share: done.length / life.citations, lastStepAt: done.at(-1) ?? life.readAt }, runs, now));
}

const SEEDS = [11, 12, 13, 14, 15, 16];

export async function run(): Promise<Report> {
  const measured = [
    ...scenarios.map((scenario) => ({ name: scenario.name, each: SEEDS.map((seed) => calibrate(scenario, seed)) })),
    { name: 'uploads', each: SEEDS.map((seed) => calibrateUploads(seed)) },
  ];
  const rows = measured.map(({ name, each }) => {
    const [answered, asked] = [total(each, 'answered'), total(each, 'asked')];
    const shares = each.map(({ inside, answered: of }) => inside / of);
    return [name, String(asked), percent(answered / asked), percent(total(each, 'inside') / answered), `${percent(Math.min(...shares))}–${percent(Math.max(...shares))}`, median(each.map(({ sharpness }) => sharpness)).toFixed(2)];
  });
  const goals = measured.map(({ name, each }) => within(`${name}: true ends inside the 80 % range`, total(each, 'inside') / total(each, 'answered')));
  const about = [...scenarios, { name: 'uploads', about: aboutUploads }].map(({ name, about: words }) => `${name}: ${words}`).join('\n');
  const text = `${about}\n\n${table(['scenario', 'asked', 'answered', 'inside', 'by seed', 'range / time left'], rows)}\n\n${goalTable(goals)}`;
  return { name: 'eta', text, figures: { seeds: SEEDS, measured }, goals };
}

function total(each: readonly Calibration[], column: 'asked' | 'answered' | 'inside'): number {
  return each.reduce((sum, one) => sum + one[column], 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export const LEAST_COVERAGE = 0.75;
export const MOST_COVERAGE = 0.9;

function within(name: string, ratio: number): Goal {
  return { name, ratio, bar: `${LEAST_COVERAGE}–${MOST_COVERAGE}`, met: ratio >= LEAST_COVERAGE && ratio <= MOST_COVERAGE };
}
