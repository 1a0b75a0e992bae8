/** Publishes over a test database: the desk of a web process, rows aged by hand, a worker with short clocks, the stub orchestrator. */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../server/config.js';
import { createBuildHandler } from '../../server/deployments/build.js';
import { createOrchestrator } from '../../server/deployments/orchestrator-client.js';
import { publish, type Published, type PublishDesk } from '../../server/deployments/publish.js';
import type { PublishRequest } from '../../server/deployments/publish-request.js';
import { startStubOrchestrator, type StubBehaviour, type StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { createLogger } from '../../server/log.js';
import { createWorkerProcess, type WorkerProcess } from '../../server/worker/process.js';
import type { TestDatabase } from '../support/database.js';

/** PUBLISH_DEAD_AFTER_SECONDS of these tests; rows are aged, not waited for. */
export const DEAD_AFTER = 300;
export const clocks = { leaseSeconds: 4, heartbeatSeconds: 1, sweepSeconds: 1, pollSeconds: 1, drainSeconds: 2, workerConcurrency: 4 } as const;
const silent = createLogger({ level: 'silent', name: 'test' });

export function deskOf(pool: pg.Pool, deadAfterSeconds = DEAD_AFTER): PublishDesk {
  return { pool, deadAfterSeconds, maxAttempts: 3, kickChannel: 'leaseboard_kick' };
}

let serial = 0;
export function newApp(changes: Partial<PublishRequest> = {}): PublishRequest {
  const n = ++serial;
  return { projectId: `project-${n}-${uuidv7().slice(-6)}`, slug: `app-${n}-${uuidv7().slice(-6)}`, userId: 'user-1', requestedBy: 'button', source: null, ...changes };
}

const plain = { before: async () => undefined, accepted: async () => {} };

export async function ask(desk: PublishDesk, request: PublishRequest): Promise<Published> {
  const answer = await publish<never>(desk, request, plain);
  if (answer.kind === 'replayed') throw new Error('nothing was kept to replay');
  return answer;
}

/** The id of the deployment, or an error that says what came instead. */
export async function accepted(desk: PublishDesk, request: PublishRequest): Promise<string> {
  const answer = await ask(desk, request);
  if (answer.kind !== 'accepted') throw new Error(`expected the publish to be accepted, got ${JSON.stringify(answer)}`);
  return answer.lock.deploymentId;
}

export interface DeploymentRow {
  id: string; state: string; publish_no: number; token: string; worker_id: string | null; error_code: string | null; error_message: string | null;
  build_id: string | null; previous_build_id: string | null; live_release: { publishNo: number; releaseId: string; url: string } | null; silent: number | null;
  attempt: number; lost_leases: number;
}

export async function deployment(db: pg.Pool, id: string): Promise<DeploymentRow> {
  const { rows } = await db.query(`select *, lease_token::text as token, extract(epoch from now() - heartbeat_at)::float8 as silent from deployments where id = $1`, [id]);
  return rows[0] as DeploymentRow;
}

/** What the history says of each publish, oldest first; the newest is judged by the row. */
export async function history(db: pg.Pool, id: string): Promise<string[]> {
  const { rows } = await db.query<{ word: string }>(
    `select a.publish_no || ' ' || case when a.publish_no = d.publish_no then d.state || coalesce(' ' || d.error_code, '') else a.outcome || coalesce(' ' || a.error_code, '') end as word
       from deployment_attempts a join deployments d on d.id = a.deployment_id where d.id = $1 order by a.publish_no`, [id]);
  return rows.map((row) => row.word);
}

export async function refusals(db: pg.Pool, projectId: string): Promise<{ code: string; deployment_id: string | null; requested_by: string; publish_no: number | null }[]> {
  const { rows } = await db.query('select code, deployment_id, requested_by, publish_no from publish_refusals where project_id = $1 order by id', [projectId]);
  return rows;
}

/** Lets the lock be silent for so long, as if no worker had beaten. */
export async function fallSilent(db: pg.Pool, id: string, seconds: number): Promise<void> {
  await db.query(`update deployments set heartbeat_at = now() - $2 * interval '1 second' where id = $1`, [id, seconds]);
}

const stubs = new Set<StubOrchestrator>();
const workers = new Set<{ end(): Promise<void> }>();

export async function startStub(behaviour: Partial<StubBehaviour> = {}): Promise<StubOrchestrator> {
  const stub = await startStubOrchestrator({ token: 'stub-token', behaviour: { buildMs: null, ...behaviour } });
  stubs.add(stub);
  return stub;
}

export interface StartedWorker extends WorkerProcess { end(seconds?: number): Promise<void> }

/** A worker of publishes in this process. It looks at builds every 50 ms and waits a second for a predecessor's end. */
export async function startWorker(database: TestDatabase, stub: StubOrchestrator, overrides: Partial<Config> = {}): Promise<StartedWorker> {
  const config = database.config({ ...clocks, workerCapabilities: ['publish'], ...overrides });
  const pool = database.createPool({ max: 4 });
  const orchestrator = createOrchestrator({ url: stub.url, token: stub.token, timeoutMs: 2_000, pauseMs: 20 });
  const handlers = { deployments: createBuildHandler({ orchestrator, lookEveryMs: 50, predecessorLimitMs: 1000 }) };
  const process = createWorkerProcess({ config, role: 'worker', pool, handlers, log: silent });
  let ended: Promise<void> | undefined;
  const end = (seconds = 0.1) => (ended ??= process.stop(seconds).then(() => pool.end()));
  const one = { ...process, end };
  workers.add(one);
  await process.start();
  return one;
}

export async function stopAll(): Promise<void> {
  await Promise.all([...workers].map((one) => one.end()));
  await Promise.all([...stubs].map((one) => one.close()));
  workers.clear();
  stubs.clear();
}
