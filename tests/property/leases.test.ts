/**
 * Leases as a property: whatever workers, sweeps, operators and accidents do in whatever order, the database answers as the reference says, every
 * row is as it says, and no invariant is broken. A failure shrinks to a short script and prints what replays it.
 * LEASEBOARD_PROPERTY_RUNS=1000 tries that many scripts; LEASEBOARD_PROPERTY_SEED and …_PATH and …_REPLAY replay one.
 */
import fc from 'fast-check';
import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { testDatabase } from '../support/database.js';
import { commands, type Real } from './lease-commands.js';
import { begin } from './lease-model.js';
import { Played } from './lease-played.js';

const RUNS = Number(process.env.LEASEBOARD_PROPERTY_RUNS ?? 8);
const SEED = Number(process.env.LEASEBOARD_PROPERTY_SEED ?? 20_261_130);
const { LEASEBOARD_PROPERTY_PATH: PATH, LEASEBOARD_PROPERTY_REPLAY: REPLAY } = process.env;
const MAX_COMMANDS = 120;

let pool: pg.Pool;
beforeAll(async () => { pool = (await testDatabase()).pool; });

it(`hold in ${RUNS} random scripts of up to ${MAX_COMMANDS} steps`, async () => {
  let steps = 0;
  const property = fc.asyncProperty(commands(MAX_COMMANDS, REPLAY), async (script) => {
    const real: Real = { pool, played: await Played.begin(pool) };
    await fc.asyncModelRun(() => ({ model: begin(), real }), script);
    steps += [...script].length;
  });
  const outcome = await fc.check(property, { numRuns: RUNS, seed: SEED, unbiased: true, ...(PATH ? { path: PATH } : {}) });
  if (outcome.failed) throw new Error(scriptOf(outcome), { cause: outcome.errorInstance });
  expect(steps).toBeGreaterThan(RUNS);
  process.stdout.write(`${steps} steps in ${outcome.numRuns} scripts\n`);
}, 240_000 + RUNS * 4_000);

/** What an engineer needs of a failure: the steps, what differed after the last of them, and how to see it again. */
function scriptOf<T>(outcome: fc.RunDetails<[T]>): string {
  const text = String(outcome.counterexample?.[0] ?? '');
  const [, script = text, replay] = /^(.*?)\s*(?:\/\*replayPath="(.*)"\*\/)?$/s.exec(text) ?? [];
  const seen = outcome.errorInstance instanceof Error ? outcome.errorInstance.message : String(outcome.errorInstance);
  return [
    `After ${outcome.numRuns} scripts and ${outcome.numShrinks} shrinks, the shortest script found to fail:`,
    ...script.split(/,(?=(?:alice|bob|item|job|the|a) )/).map((step, n) => `  ${n + 1}. ${step}`),
    `Again: LEASEBOARD_PROPERTY_SEED=${outcome.seed} LEASEBOARD_PROPERTY_PATH=${outcome.counterexamplePath} LEASEBOARD_PROPERTY_REPLAY=${replay ?? ''} npx vitest run tests/property`,
    seen,
  ].join('\n');
}
