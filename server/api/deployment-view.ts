/** Rows of deployments as the product's backend sees them. Attempts are told apart; an error is told with the attempt that it belongs to. */

export interface LiveRelease {
  releaseId: string | null;
  url: string | null;
  attempt: number;
  at: string;
}

export interface DeploymentView {
  deploymentId: string;
  projectId: string;
  slug: string;
  state: 'building' | 'live' | 'failed';
  attempt: number;
  requestedBy: string;
  startedAt: string;
  finishedAt: string | null;
  /** What serves now: that of an earlier attempt while a republish runs or after it failed. */
  liveRelease: LiveRelease | null;
  /** While it builds: who drives it, and until when its silence is put up with. */
  lock: { worker: { label: string; version: string } | null; lastBeat: string; reclaimableAt: string; cancelRequested: boolean } | null;
  error: { code: string; message: string } | null;
}

export interface DeploymentRow {
  id: string;
  project_id: string;
  slug: string;
  state: DeploymentView['state'];
  publish_no: number;
  requested_by: string;
  live_release: StoredRelease | null;
  error_code: string | null;
  error_message: string | null;
  published_at: Date;
  finished_at: Date | null;
  heartbeat_at: Date | null;
  reclaimable_at: Date | null;
  cancel_requested: boolean;
  version: string;
  label: string | null;
  worker_version: string | null;
}

export interface StoredRelease {
  releaseId: string | null;
  url: string | null;
  publishNo: number;
  at: string;
}

export function deploymentView(row: DeploymentRow): DeploymentView {
  return {
    deploymentId: row.id, projectId: row.project_id, slug: row.slug, state: row.state, attempt: row.publish_no, requestedBy: row.requested_by,
    startedAt: row.published_at.toISOString(), finishedAt: row.finished_at?.toISOString() ?? null,
    liveRelease: releaseView(row.live_release), lock: lockView(row), error: row.state === 'failed' ? errorView(row) : null,
  };
}

function lockView(row: DeploymentRow): DeploymentView['lock'] {
  if (!row.heartbeat_at || !row.reclaimable_at) return null;
  return {
    worker: row.label === null ? null : { label: row.label, version: row.worker_version ?? '?' },
    lastBeat: row.heartbeat_at.toISOString(), reclaimableAt: row.reclaimable_at.toISOString(), cancelRequested: row.cancel_requested,
  };
}

function releaseView(release: StoredRelease | null): LiveRelease | null {
  return release && { releaseId: release.releaseId, url: release.url, attempt: release.publishNo, at: new Date(release.at).toISOString() };
}

export interface AttemptView {
  deploymentId: string;
  attempt: number;
  state: 'building' | 'live' | 'failed';
  requestedBy: string;
  startedAt: string;
  finishedAt: string | null;
  /** What this attempt put live; it may have been replaced since. */
  release: LiveRelease | null;
  error: { code: string; message: string } | null;
}

interface AttemptRow {
  id: string;
  publish_no: number;
  current: boolean;
  requested_by: string;
  requested_at: Date;
  state: DeploymentView['state'];
  finished_at: Date | null;
  outcome: 'live' | 'failed' | 'lost' | null;
  ended_at: Date | null;
  release: StoredRelease | null;
  live_release: StoredRelease | null;
  error_code: string | null;
  error_message: string | null;
}

/** A lost attempt is a failed one to whoever follows it, with the error that says so. */
export function attemptView(row: AttemptRow): AttemptView {
  const state = row.current ? row.state : row.outcome === 'live' ? 'live' : 'failed';
  const release = row.current && state === 'live' ? row.live_release : row.release;
  return {
    deploymentId: row.id, attempt: row.publish_no, state, requestedBy: row.requested_by, startedAt: row.requested_at.toISOString(),
    finishedAt: (row.current ? row.finished_at : row.ended_at)?.toISOString() ?? null,
    release: state === 'live' ? releaseView(release) : null, error: state === 'failed' ? errorView(row) : null,
  };
}

const OURS = 'Something went wrong on our side; the app is not at fault. Publish it again.';

/** Texts of our own faults are for our log, not for the product's users. */
function errorView({ error_code: code, error_message: message }: { error_code: string | null; error_message: string | null }): { code: string; message: string } {
  if (code === null || code === 'internal') return { code: 'internal', message: OURS };
  return { code, message: message ?? OURS };
}
