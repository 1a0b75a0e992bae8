import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { deployments } from '../lease/queues.js';
import type { DeploymentFacts, DeploymentSettings, Hosting, ReleaseView } from './deployments.js';
import { placeOf, readFacts, releaseOf } from './deployments.js';
import type { Reader } from './read.js';
import { ms, readOnly } from './read.js';
import type { RowPage } from './row-page.js';
import { readRowPage } from './row-page.js';

/** One publish of an app; only its own error. */
export interface PublishView {
  publishNo: number;
  requestedBy: string;
  userId: string;
  source: string | null;
  requestedAt: number;
  outcome: 'building' | 'live' | 'failed' | 'lost';
  endedAt: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  release: ReleaseView | null;
}

export interface RefusalView {
  id: string;
  at: number;
  code: string;
  requestedBy: string;
  userId: string;
  source: string | null;
  publishNo: number | null;
}

export interface DeploymentPage {
  page: RowPage;
  facts: DeploymentFacts;
  attempts: PublishView[];
  moreAttempts: boolean;
  refusals: RefusalView[];
  moreRefusals: boolean;
  deadAfterMs: number;
  hosting: Hosting;
}

const SHOWN = 50;

/** An app with its lock, its publishes and who was refused; null if there is none of this id. @throws ReadTimeoutError */
export async function readDeploymentPage(kysely: Kysely<DB>, id: string, settings: DeploymentSettings): Promise<DeploymentPage | null> {
  const page = await readRowPage(kysely, deployments, id);
  if (!page) return null;
  return readOnly(kysely, async (reader) => {
    const [facts] = await readFacts(reader, [id]);
    const attempts = await readAttempts(reader, id);
    const refusals = await readRefusals(reader, id);
    return facts ? {
      page, facts, attempts: attempts.slice(0, SHOWN), moreAttempts: attempts.length > SHOWN,
      refusals: refusals.slice(0, SHOWN), moreRefusals: refusals.length > SHOWN, ...placeOf(settings),
    } : null;
  });
}

/** The newest publish is judged by the row; the next one writes its end down. */
async function readAttempts(reader: Reader, id: string): Promise<PublishView[]> {
  const { rows } = await sql<PublishView>`
    select a.publish_no as "publishNo", a.requested_by as "requestedBy", a.user_id as "userId", a.source, ${ms('a.requested_at')} as "requestedAt",
      case when a.publish_no = d.publish_no then d.state else a.outcome end as outcome,
      ${ms('case when a.publish_no = d.publish_no then d.finished_at else a.ended_at end')} as "endedAt",
      case when a.publish_no = d.publish_no then d.error_code else a.error_code end as "errorCode",
      case when a.publish_no = d.publish_no then d.error_message else a.error_message end as "errorMessage",
      case when a.publish_no = d.publish_no and d.state = 'live' then ${releaseOf('d.live_release')} else ${releaseOf('a.release')} end as release
    from deployment_attempts a join deployments d on d.id = a.deployment_id
    where a.deployment_id = ${id}::uuid order by a.publish_no desc limit ${sql.lit(SHOWN + 1)}`.execute(reader);
  return rows;
}

async function readRefusals(reader: Reader, id: string): Promise<RefusalView[]> {
  const { rows } = await sql<RefusalView>`
    select id::text as id, ${ms('at')} as at, code, requested_by as "requestedBy", user_id as "userId", source, publish_no as "publishNo"
    from publish_refusals where deployment_id = ${id}::uuid order by publish_no desc, id desc limit ${sql.lit(SHOWN + 1)}`.execute(reader);
  return rows;
}
