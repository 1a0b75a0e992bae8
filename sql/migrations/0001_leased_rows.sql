-- The leased tables of the parse pipeline, the worker registry, the event log and the switches of the engine.
-- A state is moved only by server/lease; the named CHECKs below are its written invariants.

create table workers (
  id text primary key,                      -- unique per process start: WORKER_ID or host name, and a random tail
  label text not null,
  role text not null constraint workers_role check (role in ('web', 'worker')),
  version text not null,                    -- APP_VERSION
  host text not null,
  pid integer not null,
  capabilities text[] not null default '{}',
  kinds jsonb not null default '{}',        -- queue -> { kind: highest schema version known }
  slots integer not null default 0,         -- how many leases it holds at most
  heartbeat_seconds numeric not null default 30,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  draining_since timestamptz,
  drained_by text constraint workers_drained_by check (drained_by in ('shutdown', 'operator')),
  kill_deadline_at timestamptz,             -- when the drain budget ends (shutdown only)
  stopped_at timestamptz,                   -- its own last word: a clean stop
  gone_at timestamptz,                      -- set by the sweep when it fell silent without a last word
  constraint workers_draining check ((draining_since is null) = (drained_by is null))
) with (fillfactor = 80);
create index workers_live on workers (role, version) where stopped_at is null and gone_at is null;
create index workers_by_start on workers (started_at, id);

create table redeploys (
  id uuid primary key,
  role text not null constraint redeploys_role check (role in ('web', 'worker')),
  from_version text not null,
  to_version text not null,
  started_at timestamptz not null,          -- first beat of the new version
  ended_at timestamptz                      -- the old version neither beats nor holds a lease
);
create unique index redeploys_open on redeploys (role, to_version) where ended_at is null;
create index redeploys_by_start on redeploys (started_at, id);

create table parse_jobs (
  id uuid primary key,
  user_id text not null,
  session_id text not null,
  user_email text,
  open_children integer not null constraint parse_jobs_open_children check (open_children >= 0),
  total_children integer not null,
  succeeded_children integer not null default 0,
  kind text not null default 'parse_job',
  schema_version integer not null default 1,
  state text not null constraint parse_jobs_state check (state in ('awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
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
  constraint parse_jobs_running_is_held check (
    num_nonnulls(worker_id, heartbeat_at, lease_expires_at) = case when state = 'running' then 3 else 0 end and (state <> 'running' or lease_token > 0)),
  constraint parse_jobs_terminal_is_finished check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint parse_jobs_awaiting_has_children check (state <> 'awaiting' or open_children > 0)
) with (fillfactor = 80);
create index parse_jobs_claimable on parse_jobs (run_after, id) where state = 'queued';
create index parse_jobs_held on parse_jobs (id) where state = 'running';
create index parse_jobs_open_by_user on parse_jobs (user_id) where state in ('awaiting', 'queued', 'running');
create index parse_jobs_unsuccessful on parse_jobs (state, id) where state in ('failed', 'cancelled');
create index parse_jobs_by_user on parse_jobs (user_id, id);
create index parse_jobs_by_session on parse_jobs (session_id, id);

create table documents (
  id uuid primary key,
  user_id text not null,
  content_sha256 bytea not null,
  filename text not null,
  byte_size bigint not null,
  page_count integer not null,
  failed_pages integer[] not null default '{}',   -- 1-based
  letters integer not null,
  quality text not null constraint documents_quality check (quality in ('good', 'partial', 'garbled')),
  created_at timestamptz not null default now()
);
create unique index documents_by_content on documents (user_id, content_sha256);

create table document_chunks (
  document_id uuid not null references documents on delete cascade,
  ordinal integer not null,
  page_from integer not null,               -- 1-based
  page_to integer not null,
  char_from integer not null,               -- offset in the document's text (UTF-16 code units; pages joined by \n\n)
  char_to integer not null,                 -- exclusive
  body text not null,
  embedding real[],
  embedding_model text,
  primary key (document_id, ordinal),
  constraint document_chunks_embedding_named check ((embedding is null) = (embedding_model is null))
);

create table parse_items (
  id uuid primary key,
  job_id uuid not null references parse_jobs on delete cascade,
  user_id text not null,
  session_id text not null,
  filename text not null,
  byte_size bigint not null,
  content_sha256 bytea not null,
  file_bytes bytea,
  document_id uuid references documents on delete set null,
  page_count integer,
  chunk_count integer,
  failed_pages integer[],
  staged_clock double precision not null default 0,   -- queue_clocks.ran_seconds when the bytes were staged
  quality text constraint parse_items_quality check (quality in ('good', 'partial', 'garbled')),
  kind text not null default 'pdf',
  schema_version integer not null default 1,
  state text not null constraint parse_items_state check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
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
  constraint parse_items_running_is_held check (
    num_nonnulls(worker_id, heartbeat_at, lease_expires_at) = case when state = 'running' then 3 else 0 end and (state <> 'running' or lease_token > 0)),
  constraint parse_items_terminal_is_finished check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint parse_items_bytes_while_open check ((state in ('succeeded', 'failed', 'cancelled')) = (file_bytes is null))
) with (fillfactor = 80);
alter table parse_items alter column file_bytes set storage external;   -- PDFs do not compress; substring reads stay cheap
create index parse_items_claimable on parse_items (run_after, id) where state = 'queued';
create index parse_items_held on parse_items (id) where state = 'running';
create index parse_items_by_job on parse_items (job_id, id);
create index parse_items_staged_by_user on parse_items (user_id) include (byte_size) where state in ('queued', 'running');
create index parse_items_unsuccessful on parse_items (state, id) where state in ('failed', 'cancelled');
create index parse_items_by_user on parse_items (user_id, id);
create index parse_items_by_session on parse_items (session_id, id);

create table session_sources (
  user_id text not null,
  session_id text not null,
  document_id uuid not null references documents on delete cascade,
  linked_at timestamptz not null default now(),
  linked_by text not null constraint session_sources_linked_by check (linked_by in ('upload', 'parse_item', 'parse_job', 'resolve')),
  primary key (user_id, session_id, document_id)
);
create index session_sources_by_session on session_sources (session_id);

-- Every transition, one row, written by the statement that made it. The only history there is.
create table queue_events (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  queue text not null,                      -- table name
  row_id uuid not null,
  parent_id uuid,
  from_state text,                          -- null: created
  to_state text,                            -- null: removed, or no change of state (late_write)
  cause text not null,                      -- enqueue, acquire, succeed, fail, retry, outage, drain, release, sweep, poison, cancel, children, reconcile, expire, late_write, …
  worker_id text,
  worker_version text,
  lease_token bigint,
  waited_ms integer,                        -- acquire: since the row became claimable
  ran_ms integer,                           -- end of a lease: since it was acquired
  error_code text
);
create index queue_events_by_row on queue_events (row_id, id);
create index queue_events_by_time on queue_events using brin (at) with (pages_per_range = 16);

-- One row a queue and a closed minute, rolled up from queue_events by the sweep. Histogram bounds: server/lease/samples.ts.
create table queue_minutes (
  queue text not null,
  minute timestamptz not null,
  enqueued integer not null,
  acquired integer not null,
  succeeded integer not null,
  failed integer not null,
  cancelled integer not null,
  given_back integer not null,
  lost integer not null,
  late_writes integer not null,
  waits integer[] not null,
  runs integer[] not null,
  primary key (queue, minute)
);

-- How long a queue could have been worked on (not paused, a capable worker alive): the clock of the TTL of staged bytes. Advanced by the sweep.
create table queue_clocks (
  queue text primary key,
  ran_seconds double precision not null default 0,
  ticked_at timestamptz not null default now()
);
insert into queue_clocks (queue) values ('parse_items');

create table queue_pauses (
  queue text primary key,
  paused_at timestamptz not null default now(),
  paused_by text not null,
  reason text not null
);

-- A queue rests after an outside service failed (narrower than its capability: embeddings down must not stop parsing); opened and closed by workers, shown on Now.
create table breakers (
  queue text primary key,
  opened_at timestamptz not null,
  retry_at timestamptz not null,
  failures integer not null,
  reason text not null
);

create table sweeps (
  id integer primary key default 1 constraint sweeps_one_row check (id = 1),
  last_run_at timestamptz,
  last_worker_id text,
  last_version text,
  last_took_ms integer,
  last_requeued integer not null default 0,
  last_failed integer not null default 0,
  last_reconciled integer not null default 0,
  interval_seconds numeric not null default 30
);
insert into sweeps default values;
