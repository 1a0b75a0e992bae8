/**
 * `npm run repro:redeploy [-- --in-memory --json FILE]`: files, an analysis of at least eighty claims and a publish are in flight, and worker, web or
 * both are redeployed, by SIGTERM and by SIGKILL. Prints what happened to every unit; ends with 1 if anything was lost, done more often than
 * allowed, or needed a new upload. `--in-memory` runs the old design, whose truth is a map in the process, through the same script, to show what
 * this prevents.
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { table } from '../report.js';
import { judgePhase, type UnitRow } from './redeploy-judge.js';
import { startInMemory, startProduct, type System } from './redeploy-systems.js';
import { openScript, type PhaseOutcome, type Script } from './redeploy-script.js';

const { values: options } = parseArgs({ options: { 'in-memory': { type: 'boolean', default: false }, json: { type: 'string' } } });
const say = (text: string) => void process.stdout.write(`${text}\n`);

export interface Phase {
  what: 'worker' | 'web' | 'both';
  signal: 'SIGTERM' | 'SIGKILL';
}

const PHASES: Phase[] = (['worker', 'web', 'both'] as const).flatMap((what) => (['SIGTERM', 'SIGKILL'] as const).map((signal) => ({ what, signal })));

const script = await openScript();
const system = await (options['in-memory'] ? startInMemory : startProduct)(script);
const stopAll = async () => {
  await system.stop();
  await script.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stopAll().finally(() => process.exit(130)));
try {
  process.exitCode = await main(system, script);
} finally {
  await stopAll();
}

async function main(product: System, work: Script): Promise<number> {
  say(`${product.name}; ${Object.entries(product.settings).map(([name, value]) => `${name}=${value}`).join(' ')}`);
  const claims = await work.prepare(product);
  say(`A thesis with ${claims} claims and its sources were uploaded. A redeploy by SIGTERM starts the next version first; by SIGKILL the old one is gone before.\n`);
  const phases = product.database ? PHASES : PHASES.filter(({ what }) => what === 'both');
  const outcomes: PhaseOutcome[] = [];
  const units: UnitRow[] = [];
  for (const phase of phases) {
    const outcome = await work.run(product, phase);
    outcomes.push(outcome);
    if (product.database) units.push(...await judgePhase(product.database, outcome));
    say(`${outcome.phase}: ${outcome.ended} of ${outcome.accepted} ended well`);
  }
  say('');
  return conclude(outcomes, units, work, claims);
}

function conclude(outcomes: readonly PhaseOutcome[], units: readonly UnitRow[], work: Script, claims: number): number {
  if (units.length > 0) {
    const head = ['redeploy', 'unit', 'units', 'in flight', 'finished in place', 'given back', 'taken up after', 'expired', 'taken up after ', 'late writes', 'most runs', 'lost', ''];
    say(table(head, units.map((row) => [
      row.phase, row.unit, ...[row.units, row.inFlight, row.finished, row.givenBack].map(String), row.givenBackTakenUp, String(row.expired), row.expiredTakenUp,
      ...[row.lateWrites, row.mostRuns, row.lost].map(String), row.right ? 'right' : 'WRONG',
    ])));
    say('\n“taken up after”: from the give-back to the next lease, or from the switch (expired), the longest in seconds; it includes the wait for a free slot. Allowed runs: one, and one more for what was in flight and did not finish in place.\n');
  }
  const rows = outcomes.map((one) => [
    one.phase, ...[one.accepted, one.ended, one.gone, one.neverEnded, one.newUploads, one.callsSentAgain].map(String), one.analysisClaims === claims ? 'all' : `${one.analysisClaims} of ${claims}`, one.good ? 'right' : 'WRONG',
  ]);
  say(table(['redeploy, as its clients saw it', 'accepted', 'ended well', 'unknown afterwards', 'never ended', 'new uploads needed', 'calls sent again', 'verdicts', ''], rows));
  const { asked, created, released } = work.builds();
  say(`\nThe orchestrator was asked ${asked} times, made ${created} builds and released ${released}.`);
  const good = outcomes.every((one) => one.good) && units.every((row) => row.right);
  say(good ? 'Nothing was lost, nothing was done twice, nobody had to upload again.' : 'Work was lost, repeated, or had to be uploaded again.');
  if (options.json) fs.writeFileSync(options.json, `${JSON.stringify({ good, claims, units, outcomes, builds: { asked, created, released } }, null, 2)}\n`);
  return good ? 0 : 1;
}
