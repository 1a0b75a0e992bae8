-- One row an app, and the row is its publish lock: `building` from the statement that takes it to the one that ends it. publish_no fences the
-- publish (it goes to the orchestrator), lease_token the worker that happens to drive it.

create table deployments (
  id uuid primary key,
  project_id text not null constraint deployments_project unique,
  slug text not null constraint deployments_slug unique,      -- normalised (server/deployments/slug.ts); fixed by the first publish
  user_id text not null,                    -- who asked for the publish that the row shows
  requested_by text not null constraint deployments_requested_by check (requested_by in ('button', 'tab', 'agent')),
  publish_no integer not null default 1,
  published_at timestamptz not null default now(),            -- when this publish took the lock
  build_requested_at timestamptz,           -- before the first request for a build: from here on one may exist
  build_id text,                            -- the orchestrator's name for it
  build_ended_at timestamptz,
  previous_build_id text,                   -- a predecessor's build that may still run: cancelled before ours is asked for
  live_release jsonb,                       -- { releaseId, url, publishNo, at }: what serves; kept while a republish runs
  cancel_requested_at timestamptz,
  cancel_requested_by text,
  kind text not null default 'publish',
  schema_version integer not null default 1,
  state text not null constraint deployments_state check (state in ('building', 'live', 'failed')),
  lease_token bigint not null default 0,
  attempt integer not null default 0,
  max_attempts integer not null default 3,
  lost_leases integer not null default 0,
  run_after timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  claimed_at timestamptz,
  heartbeat_at timestamptz,                 -- last beat; kept while no worker drives the build: its silence frees the lock
  lease_expires_at timestamptz,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamptz,
  error_code text,                          -- of this publish only
  error_message text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  version bigint not null default 1,
  constraint deployments_building_beats check ((state = 'building') = (heartbeat_at is not null)),
  constraint deployments_driven_is_leased check (num_nonnulls(worker_id, lease_expires_at) in (0, 2) and (worker_id is null or (state = 'building' and lease_token > 0))),
  constraint deployments_ended_is_finished check ((state = 'building') = (finished_at is null)),
  constraint deployments_live_has_release check (state <> 'live' or live_release is not null)
) with (fillfactor = 80);
create index deployments_claimable on deployments (run_after, id) where state = 'building';
create index deployments_held on deployments (id) where state = 'building';
create index deployments_unsuccessful on deployments (id) where state = 'failed';
create index deployments_by_user on deployments (user_id, id);

-- Every publish that took the lock. What became of the newest is in its deployment's row; the next publish writes it down here as it takes the lock.
create table deployment_attempts (
  deployment_id uuid not null references deployments on delete cascade,
  publish_no integer not null,
  user_id text not null,
  requested_by text not null,
  source text,                              -- what the caller says it is: a tab's id, an agent's name
  requested_at timestamptz not null default now(),
  outcome text constraint deployment_attempts_outcome check (outcome in ('live', 'failed', 'lost')),
  error_code text,
  error_message text,
  build_id text,
  release jsonb,
  ended_at timestamptz,
  primary key (deployment_id, publish_no)
);

-- Publishes that were refused: no deployment comes of them, only this. deployment_id names the caller's own deployment, never another project's.
create table publish_refusals (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  project_id text not null,
  slug text not null,
  deployment_id uuid references deployments on delete cascade,
  publish_no integer,                       -- the publish that held the lock
  code text not null,
  user_id text not null,
  requested_by text not null,
  source text
);
create index publish_refusals_by_deployment on publish_refusals (deployment_id, publish_no, id);
create index publish_refusals_by_project on publish_refusals (project_id, id);
