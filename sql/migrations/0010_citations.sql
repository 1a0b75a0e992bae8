-- Citations: an analysis reads a thesis and awaits the checks of its claims; the last check closes it. No claim lives in memory alone.

create table analysis_jobs (
  id uuid primary key,
  user_id text not null,
  session_id text not null,
  thesis_document_id uuid references documents on delete set null,
  open_children integer not null default 0 constraint analysis_jobs_open_children check (open_children >= 0),
  total_children integer not null default 0,
  succeeded_children integer not null default 0,
  pinned_documents uuid[],                  -- the session's sources when the claims were read; null before that
  claims_total integer,                     -- null before the claims were read
  marks_seen integer,
  marks_resolved integer,
  reading jsonb,                            -- how well the thesis could be read: counts and reasons, no text
  judge text,                               -- the label of the judge that the checks are made by
  kind text not null default 'analysis',
  schema_version integer not null default 1,
  state text not null constraint analysis_jobs_state check (state in ('awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
  lease_token bigint not null default 0,
  attempt integer not null default 0,
  max_attempts integer not null default 3,
  lost_leases integer not null default 0,
  run_after timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  claimed_at timestamptz,
  heartbeat_at timestamptz,
  lease_expires_at timestamptz,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamptz,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  version bigint not null default 1,
  constraint analysis_jobs_running_is_held check (
    num_nonnulls(worker_id, heartbeat_at, lease_expires_at) = case when state = 'running' then 3 else 0 end and (state <> 'running' or lease_token > 0)),
  constraint analysis_jobs_terminal_is_finished check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint analysis_jobs_awaiting_has_children check (state <> 'awaiting' or open_children > 0)
) with (fillfactor = 50);
-- One open analysis a user, session and thesis: of two that are asked for at once, one is.
create unique index analysis_jobs_one_open on analysis_jobs (user_id, session_id, thesis_document_id) where state in ('awaiting', 'queued', 'running');
create index analysis_jobs_claimable on analysis_jobs (run_after, id) where state = 'queued';
create index analysis_jobs_held on analysis_jobs (id) where state = 'running';
create index analysis_jobs_unsuccessful on analysis_jobs (state, id) where state in ('failed', 'cancelled');
create index analysis_jobs_by_user on analysis_jobs (user_id, id);
create index analysis_jobs_by_session on analysis_jobs (session_id, id);

create table job_citations (
  id uuid primary key,
  job_id uuid not null references analysis_jobs on delete cascade,
  user_id text not null,
  session_id text not null,
  ordinal integer not null,                 -- of the claim and source, in the order of the thesis
  claim text not null,
  mark text not null,
  page integer not null,                    -- in the thesis, 1-based
  char_from integer not null,               -- offset in the thesis's text (UTF-16 code units)
  char_to integer not null,                 -- exclusive
  locator text,                             -- "p. 12", as the mark says
  entry text,                               -- the cited work as the list of references has it; null: not found there
  reason text,                              -- why no entry or no document was found
  document_id uuid references documents on delete set null,
  verdict text constraint job_citations_verdict check (verdict in ('supported', 'partly_supported', 'not_supported', 'source_missing')),
  confidence real,
  evidence jsonb,                           -- [{ documentId, page, charFrom, charTo, quote }]
  rationale text,
  downgraded text,                          -- why the verdict is lower than the judge wanted it
  judge text,
  kind text not null default 'citation',
  schema_version integer not null default 1,
  state text not null constraint job_citations_state check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  lease_token bigint not null default 0,
  attempt integer not null default 0,
  max_attempts integer not null default 3,
  lost_leases integer not null default 0,
  run_after timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  claimed_at timestamptz,
  heartbeat_at timestamptz,
  lease_expires_at timestamptz,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamptz,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  version bigint not null default 1,
  constraint job_citations_running_is_held check (
    num_nonnulls(worker_id, heartbeat_at, lease_expires_at) = case when state = 'running' then 3 else 0 end and (state <> 'running' or lease_token > 0)),
  constraint job_citations_terminal_is_finished check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint job_citations_succeeded_has_verdict check (state <> 'succeeded' or verdict is not null)
) with (fillfactor = 50);
create unique index job_citations_by_job on job_citations (job_id, ordinal);
create index job_citations_claimable on job_citations (run_after, id) where state = 'queued';
create index job_citations_waiting_by_user on job_citations (user_id, run_after, id) where state = 'queued';   -- a fair share for each user
create index job_citations_held on job_citations (id) where state = 'running';
create index job_citations_held_by_user on job_citations (user_id) where state = 'running';
create index job_citations_unsuccessful on job_citations (state, id) where state in ('failed', 'cancelled');
create index job_citations_by_user on job_citations (user_id, id);
create index job_citations_by_session on job_citations (session_id, id);
