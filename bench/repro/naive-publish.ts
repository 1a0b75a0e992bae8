/**
 * The order of the incident, kept to show that the repro can fail: look whether anybody publishes, clean up what runs, then write, then ask the
 * orchestrator. Between the look and the write another request looks.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { createOrchestrator } from '../../server/deployments/orchestrator-client.js';
import type { StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import type { Answer } from './publish-stage.js';

/** What stood between the look and the write took about so long (ms). */
const GAP_MS = 100;

export async function createNaiveTable(pool: pg.Pool): Promise<void> {
  await pool.query('create table naive_deployments (id uuid primary key, project_id text not null, state text not null, heartbeat_at timestamptz not null)');
}

export async function naivePublish(pool: pg.Pool, stub: StubOrchestrator, projectId: string): Promise<Answer> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from naive_deployments where project_id = $1 and state = 'building' and heartbeat_at > now() - interval '5 minutes'`, [projectId]);
  if (rows[0]) return { status: 409, code: 'publish_in_progress', deploymentId: rows[0].id };
  await pause(GAP_MS);
  await pool.query(`update naive_deployments set state = 'failed' where project_id = $1 and state = 'building'`, [projectId]);
  const id = uuidv7();
  await pool.query(`insert into naive_deployments values ($1, $2, 'building', now())`, [id, projectId]);
  await createOrchestrator(stub).createBuild({ deploymentId: id, projectId, slug: projectId, publishNo: 1 }, new AbortController().signal);
  return { status: 202, deploymentId: id };
}
