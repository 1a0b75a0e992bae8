import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { calibrate, LEAST_COVERAGE, MOST_COVERAGE, scenarios, type Calibration } from '../../bench/eta.js';
import { calibrateUploads } from '../../bench/eta-uploads.js';
import { endsAfterWait, endsFrom, endsOf, LEAST_RUNS, plus, rangeOf, type PastRun } from '../../server/console/eta.js';
import { readPastAnalyses, readPastUploads } from '../../server/console/eta-samples.js';
import { readJourney } from '../../server/console/journey.js';
import { readOnly } from '../../server/console/read.js';
import { createKysely } from '../../server/db/kysely.js';
import { testDatabase } from '../support/database.js';
import { ago, journeyWorld, SESSION, USER, type JourneyWorld } from './journey-world.js';

const now = Date.UTC(2026, 10, 30, 12);
/** Runs of ten even steps that took so many milliseconds each. */
const past = (took: number[], units = 10): PastRun[] => took.map((ms) => ({ units, startedAt: 0, endedAt: ms, steps: Array.from({ length: 10 }, (_, k) => ((k + 1) * ms) / 10) }));
const times = Array.from({ length: 20 }, (_, k) => 100_000 + k * 1_000);

describe('the range', () => {
  test('holds what the middle four fifths of the recent runs took', () => {
    const eta = rangeOf(endsOf({ units: 10, startedAt: now, share: 0, lastStepAt: now }, past(times), now))!;
    expect(eta.from - now).toBeGreaterThanOrEqual(100_000);
    expect(eta.to - now).toBeLessThanOrEqual(119_000);
    expect(eta.to - eta.from).toBeGreaterThan(14_000);
  });

  test('follows the own pace the more, the more of it is done', () => {
    const middle = (share: number) => {
      const elapsed = share * 300_000; // three times as slow as the others
      const { from, to } = rangeOf(endsOf({ units: 10, startedAt: now - elapsed, share, lastStepAt: now }, past(times), now))!;
      return (from + to) / 2 - now;
    };
    expect(middle(0)).toBeLessThan(115_000);
    expect(middle(0.5)).toBeGreaterThan(110_000);
    expect(middle(0.9)).toBeGreaterThan(24_000);
    expect(middle(0.9)).toBeLessThan(36_000);
  });

  test('never begins in the past, and is gone once almost none of the recent runs took that long', () => {
    const run = { units: 10, startedAt: now - 112_500, share: 0, lastStepAt: now - 112_500 };
    expect(rangeOf(endsOf(run, past(times), now))!.from).toBeGreaterThan(now);
    expect(endsOf({ ...run, startedAt: now - 200_000, lastStepAt: now - 200_000 }, past(times), now)).toBeNull();
  });

  test('takes its measure from runs of about the same size', () => {
    const runs = [...past(times.map((ms) => ms / 10), 5), ...past(times, 10), ...past(times, 11), ...past(times.map((ms) => 60 * ms), 5_000)];
    expect(rangeOf(endsOf({ units: 10, startedAt: now, share: 0, lastStepAt: now }, runs, now))!.to - now).toBeLessThan(125_000);
  });

  test('is not given on too few runs', () => {
    const run = { units: 10, startedAt: now, share: 0.5, lastStepAt: now };
    expect(endsOf(run, past(times.slice(0, LEAST_RUNS - 1)), now)).toBeNull();
    expect(endsOf(run, past(times.slice(0, LEAST_RUNS)), now)).not.toBeNull();
    const stages = times.map((ms) => ({ units: null, tookMs: ms / 10, totalMs: ms }));
    expect([endsFrom(now, null, stages.slice(1, LEAST_RUNS), now), endsAfterWait(now, [], times, now), endsAfterWait(now, times, times.slice(1, LEAST_RUNS), now), rangeOf(null)]).toEqual([null, null, null, null]);
    expect(endsFrom(now - 60_000, null, stages, now)).toBeNull(); // none took that long to get past its first stage
  });

  test('adds the stages that are still ahead', () => {
    const sum = rangeOf(plus(times.map((ms) => now + ms), times))!;
    expect(sum.from - now).toBeGreaterThan(200_000);
    expect(sum.to - now).toBeLessThan(238_000);
  });
});

describe('the true end lies in the range as often as is said', () => {
  test.each<[string, () => Calibration]>([
    ...scenarios.map((scenario): [string, () => Calibration] => [scenario.name, () => calibrate({ ...scenario, analyses: 400 }, 7)]), ['uploads', () => calibrateUploads(7)],
  ])('%s', { timeout: 60_000 }, (_name, measure) => {
    const { asked, answered, inside } = measure();
    expect(answered / asked).toBeGreaterThan(0.85);
    expect(inside / answered).toBeGreaterThanOrEqual(LEAST_COVERAGE);
    expect(inside / answered).toBeLessThanOrEqual(MOST_COVERAGE);
  });
});

describe('in the database', () => {
  let world: JourneyWorld;
  let kysely: ReturnType<typeof createKysely>;
  beforeAll(async () => {
    const { pool } = await testDatabase();
    world = journeyWorld(pool);
    kysely = createKysely(pool);
  });
  beforeEach(() => world.clear());

  const eta = async () => (await readJourney(kysely, { userId: USER, sessionId: SESSION }))!.eta;
  const half = [...Array.from({ length: 10 }, () => ({ state: 'succeeded' as const, finished_at: ago('10 seconds') })), { state: 'running' as const }, ...Array.from({ length: 9 }, () => ({ state: 'queued' as const }))];

  test('the recent past is that of finished analyses and uploads, with the ends of their steps', async () => {
    await world.past(12);
    await world.pastUploads(12);
    await world.checking(half);
    const { analyses, uploads } = await readOnly(kysely, async (reader) => ({ analyses: await readPastAnalyses(reader), uploads: await readPastUploads(reader) }));
    expect([analyses.length, uploads.length]).toEqual([12, 12]);
    const took = analyses.map(({ checks }) => Math.round((checks.endedAt - checks.startedAt) / 1000));
    expect(took.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, k) => 80 + 2 * k));
    expect(analyses.every(({ checks, reading }) => checks.units === 20 && checks.steps.length === 20 && Math.round(reading.tookMs / 1000) === 8)).toBe(true);
    expect(uploads.every(({ units, steps, startedAt, endedAt }) => units === 128 && steps.length === 20 && steps.at(-1)! <= endedAt && steps[0]! > startedAt)).toBe(true);
  });

  test('a range is given for work that moves, and for none that rests', async () => {
    await world.worker();
    await world.past();
    await world.link();
    await world.checking(half);
    expect(await eta()).not.toBeNull();
    await world.pause('job_citations');
    expect(await eta()).toBeNull();
  });

  test('nothing is said on nine analyses', async () => {
    await world.worker();
    await world.past(LEAST_RUNS - 1);
    await world.link();
    await world.checking(half);
    expect(await eta()).toBeNull();
  });
});
