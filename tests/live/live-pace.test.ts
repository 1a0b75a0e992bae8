import { expect, it } from 'vitest';
import { createPace } from '../../server/console/live-pace.js';
import { until } from '../support/until.js';

const AN_HOUR = 3_600_000;

function paced(intervalMs: number, spare?: number) {
  const runs: number[] = [];
  return { runs, ...createPace(async () => void runs.push(performance.now()), intervalMs, spare) };
}

/** Longer than any run that was due. */
const settled = () => new Promise((resolve) => setTimeout(() => setImmediate(resolve), 5));

it('starts at once, then waits for its interval, unless it must run now', async () => {
  const pace = paced(AN_HOUR);
  pace.ask();
  await until(() => pace.runs.length === 1);
  pace.ask();
  await settled();
  expect(pace.runs).toHaveLength(1);
  await pace.now();
  expect(pace.runs).toHaveLength(2);
  pace.stop();
});

it('does not hold back who comes a little early, as long as starts have been spared', async () => {
  const pace = paced(AN_HOUR, 2);
  for (const n of [1, 2, 3]) {
    pace.ask();
    await until(() => pace.runs.length === n);
  }
  pace.ask();
  await settled();
  expect(pace.runs).toHaveLength(3);
  pace.stop();
});

it('keeps its pace in the long run, whatever was spared and however often it is asked', async () => {
  const pace = paced(20, 2);
  while (pace.runs.length < 20) {
    pace.ask();
    await new Promise(setImmediate);
  }
  expect(pace.runs.at(-1)! - pace.runs[0]!).toBeGreaterThan((20 - 1 - 2) * 20 - 20); // a timer may be a moment early
  pace.stop();
});

it('runs once more for whoever asks while it runs', async () => {
  let release = () => {};
  let runs = 0;
  const pace = createPace(() => new Promise<void>((resolve) => { runs += 1; release = resolve; }), 1);
  pace.ask();
  await until(() => runs === 1);
  pace.ask();
  pace.ask();
  release();
  await until(() => runs === 2);
  release();
  await settled();
  expect(runs).toBe(2);
  pace.stop();
});
