import type { Queryable } from '../lease/pump.js';
import type { Lock } from './lock.js';
import type { PublishRequest } from './publish-request.js';

export type RefusalCode = 'publish_in_progress' | 'slug_taken' | 'slug_fixed' | 'queue_paused';

/** Remembers who asked, by what and when. `lock`: the caller's own deployment, if it has one; never another project's. Needs no transaction. */
export async function recordRefusal(db: Queryable, request: PublishRequest, code: RefusalCode, lock: Lock | null): Promise<void> {
  await db.query({
    text: `insert into publish_refusals (project_id, slug, deployment_id, publish_no, code, user_id, requested_by, source) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [request.projectId, request.slug, lock?.deploymentId ?? null, lock?.publishNo ?? null, code, request.userId, request.requestedBy, request.source],
  });
}
