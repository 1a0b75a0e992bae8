import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { isStub } from '../deployments/stub-url.js';
import { deployments } from '../lease/queues.js';
import type { QueueFilters } from './queue-filters.js';
import type { QueuePage } from './queue-page.js';
import { readQueuePage } from './queue-page.js';
import type { Reader } from './read.js';
import { ms, readOnly } from './read.js';

/** Where publishes go: a real hosting, the stub that builds nothing, or nowhere. */
export type Hosting = 'orchestrator' | 'stub' | 'none';

export interface ReleaseView {
  releaseId: string | null;
  url: string | null;
  publishNo: number;
  at: number;
}

/** What a deployment has beside its leased row. Instants in milliseconds since 1970. */
export interface DeploymentFacts {
  id: string;
  publishedAt: number;
  release: ReleaseView | null;
  cancelRequestedAt: number | null;
  cancelRequestedBy: string | null;
  buildId: string | null;
  /** Publishes refused while this one has held the lock. */
  refused: number;
}

export interface DeploymentsPage extends QueuePage {
  facts: Record<string, DeploymentFacts>;
  deadAfterMs: number;
  hosting: Hosting;
}

/** What the pages must know of the configuration. */
export interface DeploymentSettings {
  publishDeadAfterSeconds: number;
  orchestratorUrl?: string | undefined;
}

/** One row an app, newest first. Two read-only transactions: the facts may be a moment younger than the rows. @throws ReadTimeoutError */
export async function readDeployments(kysely: Kysely<DB>, filters: QueueFilters, settings: DeploymentSettings): Promise<DeploymentsPage> {
  const page = await readQueuePage(kysely, deployments, filters);
  const facts = await readOnly(kysely, (reader) => readFacts(reader, page.rows.map((row) => row.id)));
  return { ...page, facts: Object.fromEntries(facts.map((one) => [one.id, one])), ...placeOf(settings) };
}

export function placeOf({ publishDeadAfterSeconds, orchestratorUrl }: DeploymentSettings): { deadAfterMs: number; hosting: Hosting } {
  return { deadAfterMs: publishDeadAfterSeconds * 1000, hosting: orchestratorUrl === undefined ? 'none' : isStub(orchestratorUrl) ? 'stub' : 'orchestrator' };
}

export async function readFacts(reader: Reader, ids: readonly string[]): Promise<DeploymentFacts[]> {
  const { rows } = await sql<DeploymentFacts>`
    select d.id, ${ms('d.published_at')} as "publishedAt", ${ms('d.cancel_requested_at')} as "cancelRequestedAt",
      d.cancel_requested_by as "cancelRequestedBy", d.build_id as "buildId", ${releaseOf('d.live_release')} as release,
      (select count(*)::int from publish_refusals r where r.deployment_id = d.id and r.publish_no = d.publish_no) as refused
    from deployments d where d.id = any(${ids}::uuid[])`.execute(reader);
  return rows;
}

/** A stored release (jsonb, ours) with its instant in milliseconds. */
export function releaseOf(column: string) {
  return sql.raw<ReleaseView | null>(`case when ${column} is null then null else json_build_object('releaseId', ${column}->>'releaseId', 'url', ${column}->>'url',
    'publishNo', (${column}->>'publishNo')::int, 'at', round(extract(epoch from (${column}->>'at')::timestamptz) * 1000)::float8) end`);
}
