/**
 * The product's reason: a thesis is checked while everything around it is redeployed, killed and restarted. Real processes, a Postgres of the
 * test's own, a model that takes its time, and a cache that forgets all the time.
 */
import type { ServerResponse } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig, withDatabase, type Config } from '../../server/config.js';
import { createPool } from '../../server/db/connection.js';
import { createLogger } from '../../server/log.js';
import { createApiToken } from '../../server/operations/accounts.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { killAtOnce, shortLimits, startFleet, type Fleet, type WorkerRun } from '../lifecycle/fleet.js';
import { privatePostgres, type PrivatePostgres } from '../lifecycle/private-postgres.js';
import { expectNothingBroken } from '../lifecycle/rows.js';
import { knowing, modelStub, type ModelStub } from '../support/model-stub.js';
import { until } from '../support/until.js';
import { storeThesis } from './stored-thesis.js';

let postgres: PrivatePostgres;
let pool: pg.Pool;
let config: Config;
let stub: ModelStub;
let fleet: Fleet;

/** Checks that end before the next thing happens; the model is allowed twice as many answers, since some are second questions or lost. */
const STEP = 6;

/** The model gives as many answers as it is allowed; further questions wait, so that some are in flight whenever a process ends. */
class Patience {
  private allowed = 0;
  private readonly waiting = new Set<() => void>();

  allow(answers: number): void {
    this.allowed += answers;
    for (const next of [...this.waiting].slice(0, this.allowed)) next();
  }

  /** Resolves when it may answer, or when nobody waits for the answer any more. */
  turn(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        this.waiting.delete(next);
        resolve();
      };
      const next = () => {
        this.allowed -= 1;
        over();
      };
      this.waiting.add(next);
      response.on('close', over);
      if (this.allowed > 0) next();
    });
  }
}
const patience = new Patience();

beforeAll(async () => {
  await requireBuiltConsole();
  postgres = await privatePostgres();
  config = { ...withDatabase(loadConfig({ DATABASE_POOL_MAX: '3' }), postgres.url), ...shortLimits };
  pool = createPool(config, { role: 'test', log: createLogger({ level: 'silent', name: 'test' }) });
  stub = await modelStub();
  fleet = await startFleet(postgres.url, { LLM_BASE_URL: stub.baseUrl, LLM_MODEL: 'stub', SOURCE_CACHE_TTL_SECONDS: '0.05' });
}, 300_000);
afterAll(async () => {
  await fleet.end();
  await pool.end();
  await postgres.remove();
  await stub.close();
}, 90_000);

async function checked(jobId: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from job_citations where job_id = $1 and state = 'succeeded' and judge is not null`, [jobId]);
  return rows[0]!.n;
}

/** Resolves when some more checks have ended. */
async function aFewMore(jobId: string): Promise<void> {
  const wanted = await checked(jobId) + STEP;
  patience.allow(STEP * 2);
  await until(async () => await checked(jobId) >= wanted, { timeoutMs: 120_000, what: `${wanted} checked citations` });
}

async function replace(old: WorkerRun, version: string): Promise<WorkerRun> {
  const next = await fleet.worker({ APP_VERSION: version });
  old.kill('SIGTERM');
  expect(await old.ended).toEqual({ code: 0, signal: null });
  return next;
}

test('a run of more than eighty claims outlives two redeploys, a kill, a new web process and a crash of Postgres, and each claim has one verdict', async () => {
  const thesis = await storeThesis(pool, { citations: 100 });
  expect(thesis.key.length).toBeGreaterThan(80);
  const knows = knowing((claim) => {
    const verdict = thesis.key.find(({ sentence }) => sentence === claim)?.verdict;
    return verdict === 'source_missing' ? undefined : verdict;
  });
  stub.behave(async (asked, response) => {
    await patience.turn(response);
    if (!response.destroyed) await knows(asked, response);
  });
  const headers = { authorization: `Bearer ${await createApiToken(pool, 'survival')}`, 'content-type': 'application/json' };
  let web = await fleet.web();
  let worker = await fleet.worker({ APP_VERSION: 'v1' });
  const body = JSON.stringify({ userId: thesis.userId, sessionId: thesis.sessionId, thesisDocumentId: thesis.thesisId });
  const started = await fetch(`${web.url}/api/analysis-jobs`, { method: 'POST', headers, body });
  expect(started.status).toBe(202);
  const { jobId } = await started.json() as { jobId: string };

  await aFewMore(jobId);
  worker = await replace(worker, 'v2');
  await aFewMore(jobId);
  worker = await replace(worker, 'v3');
  await aFewMore(jobId);
  await killAtOnce(worker);
  worker = await fleet.worker({ APP_VERSION: 'v3' });
  await aFewMore(jobId);
  web.kill('SIGTERM');
  await web.ended;
  web = await fleet.web();
  expect((await (await fetch(`${web.url}/api/analysis-jobs`, { method: 'POST', headers, body })).json())).toMatchObject({ code: 'analysis_in_progress', jobId });
  await aFewMore(jobId);
  await postgres.end('immediate shutdown');
  await postgres.start();
  patience.allow(1_000);

  const report = await until(async () => {
    const answer = await fetch(`${web.url}/api/analysis-jobs/${jobId}/report`, { headers }).catch(() => undefined);
    return answer?.ok && await answer.json() as { state: string; survivedRedeploys: number; claims: number; verdicts: { claim: { text: string }; verdict: string }[]; counts: Record<string, number> };
  }, { timeoutMs: 180_000, what: 'the report' });
  expect(report).toMatchObject({ state: 'succeeded', claims: thesis.key.length, counts: { not_checked: 0 } });
  expect(report.survivedRedeploys).toBeGreaterThanOrEqual(2);
  expect(report.verdicts.map(({ claim, verdict }) => [claim.text, verdict]).sort()).toEqual(thesis.key.map(({ sentence, verdict }) => [sentence, verdict]).sort());
  await expectJudgedOnce(jobId);
  await expectNothingBroken(pool, config);
}, 400_000);

/** Each citation ended once; only one whose lease was cut short was asked about again. */
async function expectJudgedOnce(jobId: string): Promise<void> {
  const { rows } = await pool.query<{ claim: string; acquired: number; ends: number; missing: boolean }>(
    `select claim, document_id is null as missing, (select count(*)::int from queue_events e where e.row_id = c.id and e.cause = 'acquire') as acquired,
            (select count(*)::int from queue_events e where e.row_id = c.id and e.to_state in ('succeeded', 'failed', 'cancelled')) as ends
       from job_citations c where job_id = $1`, [jobId]);
  expect(rows.filter(({ ends }) => ends !== 1)).toEqual([]);
  const leases = new Map<string, number>(); // a sentence may stand in the thesis twice
  for (const { claim, acquired, missing } of rows) leases.set(claim, (leases.get(claim) ?? 0) + (missing ? 0 : acquired));
  const questions = [...leases.keys()].map((claim) => [claim, stub.asked.filter((asked) => asked.turn === 0 && asked.claim === claim).length] as const);
  expect(questions.filter(([claim, asked]) => asked > leases.get(claim)!)).toEqual([]);
  // Two slots, five breaks.
  expect(rows.filter(({ acquired }) => acquired > 1).length).toBeLessThanOrEqual(10);
}
