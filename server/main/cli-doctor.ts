import type { Command } from 'commander';
import { loadConfig, type Config } from '../config.js';
import { createPool } from '../db/connection.js';
import { createLogger } from '../log.js';
import { answer, runningDatabase } from './cli-session.js';
import { databaseChecks, placeChecks, type Check, type Finding } from './doctor-checks.js';

/** doctor: one line a check, `ok` or `bad` and what to do; exit 1 when something is bad. Changes nothing, starts nothing. */
export function addDoctorCommand(program: Command): void {
  program.command('doctor').description('look for what is wrong with this installation, and say what to do').action(examine);
}

async function examine(): Promise<void> {
  const config = loadConfig(process.env);
  const place = await report(placeChecks(config));
  const running = await runningDatabase();
  const database = running ? await examineDatabase(running) : noDatabase();
  if (!place || !database) process.exitCode = 1;
}

async function examineDatabase(config: Config): Promise<boolean> {
  const log = createLogger({ level: 'silent', name: 'doctor', destination: 2 });
  const pool = createPool(config, { role: 'doctor', log });
  try {
    return await report(databaseChecks(config, pool, log));
  } finally {
    await pool.end();
  }
}

function noDatabase(): boolean {
  print('database', { ok: false, text: 'the embedded database does not run; start it with npm start, or set DATABASE_URL' });
  return false;
}

/** Runs the checks in order; a check that `ends` stops the rest when it is bad (nothing behind it could be told). */
async function report(checks: Check[]): Promise<boolean> {
  let well = true;
  for (const check of checks) {
    const finding = await check.look().catch((error: unknown): Finding => ({ ok: false, text: error instanceof Error ? error.message : String(error) }));
    print(check.name, finding);
    well &&= finding.ok;
    if (!finding.ok && check.ends) break;
  }
  return well;
}

function print(name: string, { ok, text }: Finding): void {
  answer(`${ok ? 'ok ' : 'bad'}  ${name.padEnd(14)} ${text}`);
}
