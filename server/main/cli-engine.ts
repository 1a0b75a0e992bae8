import os from 'node:os';
import type { Command } from 'commander';
import { checkInvariants, type Broken } from '../lease/invariants.js';
import { sweep } from '../lease/sweep.js';
import { answer, answerTable, withDatabaseUp } from './cli-session.js';

/** sweep, invariants. */
export function addEngineCommands(program: Command): void {
  program.command('sweep').description('take back expired leases now, as every process does by itself').action(runSweep);
  program.command('invariants').description('check what must always hold; exit 1 and the rows when it does not').action(runInvariants);
}

const runSweep = () => withDatabaseUp(async ({ pool, config }) => {
  const report = await sweep(pool, { ...config, workerId: `cli-${os.hostname()}-${process.pid}`, version: config.appVersion });
  if (!report.ran) {
    answer('Another process is sweeping right now; nothing was left to do here.');
    return;
  }
  const { requeued, failed, expired, reconciled, goneProcesses } = report;
  answer(`Requeued ${requeued}, failed ${failed}, expired uploads ${expired}, parents repaired ${reconciled}, processes found gone ${goneProcesses}.`);
});

const runInvariants = () => withDatabaseUp(async ({ pool, config }) => {
  const broken = await checkInvariants(pool, config);
  if (broken.length === 0) answer('Every invariant holds.');
  else process.exitCode = 1;
  broken.forEach(printBroken);
});

function printBroken({ invariant, expected, rows }: Broken): void {
  answer(`Broken: ${invariant}. ${expected}`);
  answerTable(rows.map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, text(value)]))));
}

function text(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return value === null || value === undefined ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
