/** GET /api/deployments/:id, GET …/attempts/:n and POST …/cancel. A follower asks for its own attempt and learns nothing of another's error. */
import type pg from 'pg';
import { z } from 'zod';
import { kick } from '../bus/kick.js';
import { inTransaction } from '../db/connection.js';
import { limited } from '../db/limited.js';
import { requestCancel } from '../deployments/unlock.js';
import { deployments } from '../lease/queues.js';
import { deploymentView, attemptView, type AttemptView, type DeploymentRow, type DeploymentView } from './deployment-view.js';
import { Problem } from './problem.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const COLUMNS = `d.id, d.project_id, d.slug, d.state, d.publish_no, d.requested_by, d.live_release, d.error_code, d.error_message, d.published_at,
  d.finished_at, d.heartbeat_at, d.cancel_requested_at is not null as cancel_requested, d.version::text as version, w.label, w.version as worker_version,
  d.heartbeat_at + $2::double precision * interval '1 second' as reclaimable_at`;
const FROM = 'from deployments d left join workers w on w.id = d.worker_id';

/** What the ETag of the deployment `asked.also` says. */
export const DEPLOYMENT_TAG = 'select d.version::text from deployments d where d.id = asked.also';

/** The deployment as it is now, with the ETag of exactly this state. Throws 404 for an unknown or malformed id. */
export async function readDeployment(pool: pg.Pool, id: string, deadAfterSeconds: number): Promise<{ tag: string; body: DeploymentView }> {
  const row = await readRow<DeploymentRow>(pool, `select ${COLUMNS} ${FROM} where d.id = $1`, [id, deadAfterSeconds]);
  if (!row) throw notFound();
  return { tag: `"${row.version}"`, body: deploymentView(row) };
}

/** One publish of the deployment, however long ago. Throws 404 for one that never was. */
export async function readAttempt(pool: pg.Pool, id: string, attempt: string): Promise<AttemptView> {
  const number = /^[1-9]\d{0,8}$/.test(attempt) ? Number(attempt) : 0;
  const row = await readRow<Parameters<typeof attemptView>[0]>(pool,
    `select d.id, a.publish_no, a.publish_no = d.publish_no as current, a.requested_by, a.requested_at, d.state, d.finished_at,
            a.outcome, a.ended_at, a.release, d.live_release,
            case when a.publish_no = d.publish_no then d.error_code else a.error_code end as error_code,
            case when a.publish_no = d.publish_no then d.error_message else a.error_message end as error_message
       from deployments d join deployment_attempts a on a.deployment_id = d.id and a.publish_no = $2 where d.id = $1`, [id, number]);
  if (!row) throw new Problem(404, 'attempt_not_found', 'There is no such attempt of this deployment. Use the deploymentId and attempt that the publish answered.');
  return attemptView(row);
}

async function readRow<T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: [string, number]): Promise<T | undefined> {
  if (!UUID.test(values[0])) throw notFound();
  const { rows } = await pool.query<T>(limited(text, values));
  return rows[0];
}

function notFound(): Problem {
  return new Problem(404, 'deployment_not_found', 'There is no deployment with this id. Use the deploymentId that POST /api/projects/:projectId/publish answered.');
}

const cancelBody = z.object({ attempt: z.number().int().positive().optional() });

/** Asks the publish that runs to end; `attempt` in the body keeps a late click from cancelling a newer one. Throws 409 `finished`. */
export async function cancelDeployment(parts: { pool: pg.Pool; kickChannel: string }, id: string, body: unknown, by: string): Promise<{ deploymentId: string; attempt: number }> {
  if (!UUID.test(id)) throw notFound();
  const read = cancelBody.safeParse(body ?? {});
  if (!read.success) throw new Problem(400, 'invalid_cancel', 'The body may hold the attempt to cancel, as a number, and nothing else is needed. Nothing was cancelled.');
  const answer = await inTransaction(parts.pool, async (tx) => {
    const asked = await requestCancel(tx, id, by, read.data.attempt);
    if (asked.kind === 'requested') await kick(tx, parts, { q: deployments.table, low: true });
    return asked;
  }, { timeoutMs: 10_000 });
  if (answer.kind === 'none') throw notFound();
  if (answer.kind === 'finished') throw finished(id, answer, read.data.attempt);
  return { deploymentId: id, attempt: answer.publishNo };
}

function finished(id: string, { state, publishNo }: { state: string; publishNo: number }, asked: number | undefined): Problem {
  const what = asked !== undefined && asked !== publishNo ? `Attempt ${asked} is not the one that runs` : `Attempt ${publishNo} has ended (${state})`;
  return new Problem(409, 'finished', `${what}, so there is nothing to cancel and nothing was changed. Read GET /api/deployments/${id} for what is true now.`, { extra: { deploymentId: id, attempt: publishNo, state } });
}
