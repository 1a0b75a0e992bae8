-- The schema that sql/migrations add up to. Made by npm run schema, compared by npm run check. Not applied by anything.

create extension pg_trgm;

create table analysis_jobs (
  id uuid not null,
  user_id text not null,
  session_id text not null,
  thesis_document_id uuid,
  open_children integer default 0 not null,
  total_children integer default 0 not null,
  succeeded_children integer default 0 not null,
  pinned_documents uuid[],
  claims_total integer,
  marks_seen integer,
  marks_resolved integer,
  reading jsonb,
  judge text,
  kind text default 'analysis'::text not null,
  schema_version integer default 1 not null,
  state text not null,
  lease_token bigint default 0 not null,
  attempt integer default 0 not null,
  max_attempts integer default 3 not null,
  lost_leases integer default 0 not null,
  run_after timestamp with time zone default now() not null,
  queued_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  version bigint default 1 not null,
  constraint analysis_jobs_pkey PRIMARY KEY (id),
  constraint analysis_jobs_thesis_document_id_fkey FOREIGN KEY (thesis_document_id) REFERENCES documents(id) ON DELETE SET NULL,
  constraint analysis_jobs_awaiting_has_children CHECK (((state <> 'awaiting'::text) OR (open_children > 0))),
  constraint analysis_jobs_open_children CHECK ((open_children >= 0)),
  constraint analysis_jobs_running_is_held CHECK (((num_nonnulls(worker_id, heartbeat_at, lease_expires_at) =
CASE
    WHEN (state = 'running'::text) THEN 3
    ELSE 0
END) AND ((state <> 'running'::text) OR (lease_token > 0)))),
  constraint analysis_jobs_state CHECK ((state = ANY (ARRAY['awaiting'::text, 'queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
  constraint analysis_jobs_terminal_is_finished CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL)))
) with (fillfactor=50);
CREATE INDEX analysis_jobs_by_session ON analysis_jobs USING btree (session_id, id);
CREATE INDEX analysis_jobs_by_tail ON analysis_jobs USING btree ("right"((id)::text, 8));
CREATE INDEX analysis_jobs_by_user ON analysis_jobs USING btree (user_id, id);
CREATE INDEX analysis_jobs_claimable ON analysis_jobs USING btree (run_after, id) WHERE (state = 'queued'::text);
CREATE INDEX analysis_jobs_held ON analysis_jobs USING btree (id) WHERE (state = 'running'::text);
CREATE UNIQUE INDEX analysis_jobs_one_open ON analysis_jobs USING btree (user_id, session_id, thesis_document_id) WHERE (state = ANY (ARRAY['awaiting'::text, 'queued'::text, 'running'::text]));
CREATE INDEX analysis_jobs_unsuccessful ON analysis_jobs USING btree (state, id) WHERE (state = ANY (ARRAY['failed'::text, 'cancelled'::text]));

create table api_tokens (
  id uuid not null,
  name text not null,
  token_sha256 bytea not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  scopes text[] default '{api:read,api:write,api:erase}'::text[] not null,
  expires_at timestamp with time zone,
  constraint api_tokens_pkey PRIMARY KEY (id),
  constraint api_tokens_scopes CHECK (((scopes <@ '{api:read,api:write,api:erase,act:operator,act:admin}'::text[]) AND (cardinality(scopes) > 0)))
);
CREATE UNIQUE INDEX api_tokens_by_hash ON api_tokens USING btree (token_sha256);
CREATE UNIQUE INDEX api_tokens_live_name ON api_tokens USING btree (name) WHERE (revoked_at IS NULL);

create table breakers (
  queue text not null,
  opened_at timestamp with time zone not null,
  retry_at timestamp with time zone not null,
  failures integer not null,
  reason text not null,
  constraint breakers_pkey PRIMARY KEY (queue)
);

create table deployment_attempts (
  deployment_id uuid not null,
  publish_no integer not null,
  user_id text not null,
  requested_by text not null,
  source text,
  requested_at timestamp with time zone default now() not null,
  outcome text,
  error_code text,
  error_message text,
  build_id text,
  release jsonb,
  ended_at timestamp with time zone,
  constraint deployment_attempts_pkey PRIMARY KEY (deployment_id, publish_no),
  constraint deployment_attempts_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint deployment_attempts_outcome CHECK ((outcome = ANY (ARRAY['live'::text, 'failed'::text, 'lost'::text])))
);

create table deployments (
  id uuid not null,
  project_id text not null,
  slug text not null,
  user_id text not null,
  requested_by text not null,
  publish_no integer default 1 not null,
  published_at timestamp with time zone default now() not null,
  build_requested_at timestamp with time zone,
  build_id text,
  build_ended_at timestamp with time zone,
  previous_build_id text,
  live_release jsonb,
  cancel_requested_at timestamp with time zone,
  cancel_requested_by text,
  kind text default 'publish'::text not null,
  schema_version integer default 1 not null,
  state text not null,
  lease_token bigint default 0 not null,
  attempt integer default 0 not null,
  max_attempts integer default 3 not null,
  lost_leases integer default 0 not null,
  run_after timestamp with time zone default now() not null,
  queued_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  version bigint default 1 not null,
  constraint deployments_pkey PRIMARY KEY (id),
  constraint deployments_project UNIQUE (project_id),
  constraint deployments_slug UNIQUE (slug),
  constraint deployments_building_beats CHECK (((state = 'building'::text) = (heartbeat_at IS NOT NULL))),
  constraint deployments_driven_is_leased CHECK (((num_nonnulls(worker_id, lease_expires_at) = ANY (ARRAY[0, 2])) AND ((worker_id IS NULL) OR ((state = 'building'::text) AND (lease_token > 0))))),
  constraint deployments_ended_is_finished CHECK (((state = 'building'::text) = (finished_at IS NULL))),
  constraint deployments_live_has_release CHECK (((state <> 'live'::text) OR (live_release IS NOT NULL))),
  constraint deployments_requested_by CHECK ((requested_by = ANY (ARRAY['button'::text, 'tab'::text, 'agent'::text]))),
  constraint deployments_state CHECK ((state = ANY (ARRAY['building'::text, 'live'::text, 'failed'::text])))
) with (fillfactor=50);
CREATE INDEX deployments_by_project_start ON deployments USING btree (project_id text_pattern_ops);
CREATE INDEX deployments_by_slug_start ON deployments USING btree (slug text_pattern_ops);
CREATE INDEX deployments_by_user ON deployments USING btree (user_id, id);
CREATE INDEX deployments_claimable ON deployments USING btree (run_after, id) WHERE (state = 'building'::text);
CREATE INDEX deployments_held ON deployments USING btree (id) WHERE (state = 'building'::text);
CREATE INDEX deployments_unsuccessful ON deployments USING btree (id) WHERE (state = 'failed'::text);

create table document_chunks (
  document_id uuid not null,
  ordinal integer not null,
  page_from integer not null,
  page_to integer not null,
  char_from integer not null,
  char_to integer not null,
  body text not null,
  embedding real[],
  embedding_model text,
  constraint document_chunks_pkey PRIMARY KEY (document_id, ordinal),
  constraint document_chunks_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id) ON DELETE CASCADE,
  constraint document_chunks_embedding_named CHECK (((embedding IS NULL) = (embedding_model IS NULL)))
);

create table documents (
  id uuid not null,
  user_id text not null,
  content_sha256 bytea not null,
  filename text not null,
  byte_size bigint not null,
  page_count integer not null,
  failed_pages integer[] default '{}'::integer[] not null,
  letters integer not null,
  quality text not null,
  created_at timestamp with time zone default now() not null,
  page_starts integer[],
  constraint documents_pkey PRIMARY KEY (id),
  constraint documents_quality CHECK ((quality = ANY (ARRAY['good'::text, 'partial'::text, 'garbled'::text])))
);
CREATE UNIQUE INDEX documents_by_content ON documents USING btree (user_id, content_sha256);

create table idempotency_keys (
  token_id uuid not null,
  path text not null,
  key text not null,
  body_sha256 bytea not null,
  status integer not null,
  response jsonb not null,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (token_id, path, key),
  constraint idempotency_keys_token_id_fkey FOREIGN KEY (token_id) REFERENCES api_tokens(id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

create table job_citations (
  id uuid not null,
  job_id uuid not null,
  user_id text not null,
  session_id text not null,
  ordinal integer not null,
  claim text not null,
  mark text not null,
  page integer not null,
  char_from integer not null,
  char_to integer not null,
  locator text,
  entry text,
  reason text,
  document_id uuid,
  verdict text,
  confidence real,
  evidence jsonb,
  rationale text,
  downgraded text,
  judge text,
  kind text default 'citation'::text not null,
  schema_version integer default 1 not null,
  state text not null,
  lease_token bigint default 0 not null,
  attempt integer default 0 not null,
  max_attempts integer default 3 not null,
  lost_leases integer default 0 not null,
  run_after timestamp with time zone default now() not null,
  queued_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  version bigint default 1 not null,
  constraint job_citations_pkey PRIMARY KEY (id),
  constraint job_citations_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id) ON DELETE SET NULL,
  constraint job_citations_job_id_fkey FOREIGN KEY (job_id) REFERENCES analysis_jobs(id) ON DELETE CASCADE,
  constraint job_citations_running_is_held CHECK (((num_nonnulls(worker_id, heartbeat_at, lease_expires_at) =
CASE
    WHEN (state = 'running'::text) THEN 3
    ELSE 0
END) AND ((state <> 'running'::text) OR (lease_token > 0)))),
  constraint job_citations_state CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
  constraint job_citations_succeeded_has_verdict CHECK (((state <> 'succeeded'::text) OR (verdict IS NOT NULL))),
  constraint job_citations_terminal_is_finished CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
  constraint job_citations_verdict CHECK ((verdict = ANY (ARRAY['supported'::text, 'partly_supported'::text, 'not_supported'::text, 'source_missing'::text])))
) with (fillfactor=50);
CREATE UNIQUE INDEX job_citations_by_job ON job_citations USING btree (job_id, ordinal);
CREATE INDEX job_citations_by_session ON job_citations USING btree (session_id, id);
CREATE INDEX job_citations_by_user ON job_citations USING btree (user_id, id);
CREATE INDEX job_citations_claimable ON job_citations USING btree (run_after, id) WHERE (state = 'queued'::text);
CREATE INDEX job_citations_held ON job_citations USING btree (id) WHERE (state = 'running'::text);
CREATE INDEX job_citations_held_by_user ON job_citations USING btree (user_id) WHERE (state = 'running'::text);
CREATE INDEX job_citations_unsuccessful ON job_citations USING btree (state, id) WHERE (state = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE INDEX job_citations_waiting_by_user ON job_citations USING btree (user_id, run_after, id) WHERE (state = 'queued'::text);

create table operator_actions (
  id bigint generated always as identity not null,
  attempt_id uuid not null,
  at timestamp with time zone default clock_timestamp() not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  actor_role text not null,
  via text not null,
  bulk_id uuid,
  action text not null,
  target_kind text not null,
  target_id text not null,
  queue text,
  row_id uuid,
  user_id text,
  session_id text,
  reason text,
  outcome text not null,
  refusal text,
  answer text not null,
  before jsonb,
  after jsonb,
  constraint operator_actions_pkey PRIMARY KEY (id),
  constraint operator_actions_actor_kind CHECK ((actor_kind = ANY (ARRAY['operator'::text, 'cli'::text, 'token'::text]))),
  constraint operator_actions_outcome CHECK ((outcome = ANY (ARRAY['applied'::text, 'refused'::text]))),
  constraint operator_actions_refused_says_why CHECK (((outcome = 'refused'::text) = (refusal IS NOT NULL))),
  constraint operator_actions_via CHECK ((via = ANY (ARRAY['page'::text, 'bulk'::text, 'cli'::text, 'api'::text])))
);
CREATE INDEX operator_actions_by_action ON operator_actions USING btree (action, id);
CREATE INDEX operator_actions_by_actor ON operator_actions USING btree (actor_name, id);
CREATE UNIQUE INDEX operator_actions_by_attempt ON operator_actions USING btree (attempt_id);
CREATE INDEX operator_actions_by_row ON operator_actions USING btree (row_id, id) WHERE (row_id IS NOT NULL);
CREATE INDEX operator_actions_by_target ON operator_actions USING btree (target_id, id);
CREATE INDEX operator_actions_by_time ON operator_actions USING btree (at);

create table operator_sessions (
  token_sha256 bytea not null,
  operator_id uuid not null,
  created_at timestamp with time zone default now() not null,
  last_seen_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  user_agent text,
  id uuid default gen_random_uuid() not null,
  role text,
  via text default 'link'::text not null,
  previous_sha256 bytea,
  renewed_at timestamp with time zone,
  constraint operator_sessions_pkey PRIMARY KEY (token_sha256),
  constraint operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id) ON DELETE CASCADE,
  constraint operator_sessions_via CHECK ((via = ANY (ARRAY['link'::text, 'password'::text, 'oidc'::text])))
);
CREATE UNIQUE INDEX operator_sessions_by_id ON operator_sessions USING btree (id);
CREATE INDEX operator_sessions_by_operator ON operator_sessions USING btree (operator_id);
CREATE INDEX operator_sessions_by_previous ON operator_sessions USING btree (previous_sha256) WHERE (previous_sha256 IS NOT NULL);
CREATE INDEX operator_sessions_newest ON operator_sessions USING btree (created_at DESC, id DESC);

create table operators (
  id uuid not null,
  name text not null,
  role text not null,
  created_at timestamp with time zone default now() not null,
  disabled_at timestamp with time zone,
  password_hash text,
  password_set_at timestamp with time zone,
  oidc_issuer text,
  oidc_subject text,
  constraint operators_pkey PRIMARY KEY (id),
  constraint operators_oidc_whole CHECK (((oidc_issuer IS NULL) = (oidc_subject IS NULL))),
  constraint operators_one_way_in CHECK (((oidc_issuer IS NULL) OR (password_hash IS NULL))),
  constraint operators_password_dated CHECK (((password_hash IS NULL) = (password_set_at IS NULL))),
  constraint operators_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text])))
);
CREATE UNIQUE INDEX operators_by_name ON operators USING btree (lower(name));
CREATE UNIQUE INDEX operators_by_oidc ON operators USING btree (oidc_issuer, oidc_subject) WHERE (oidc_issuer IS NOT NULL);

create table parse_items (
  id uuid not null,
  job_id uuid not null,
  user_id text not null,
  session_id text not null,
  filename text not null,
  byte_size bigint not null,
  content_sha256 bytea not null,
  file_bytes bytea,
  document_id uuid,
  page_count integer,
  chunk_count integer,
  failed_pages integer[],
  staged_clock double precision default 0 not null,
  quality text,
  kind text default 'pdf'::text not null,
  schema_version integer default 1 not null,
  state text not null,
  lease_token bigint default 0 not null,
  attempt integer default 0 not null,
  max_attempts integer default 3 not null,
  lost_leases integer default 0 not null,
  run_after timestamp with time zone default now() not null,
  queued_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  version bigint default 1 not null,
  constraint parse_items_pkey PRIMARY KEY (id),
  constraint parse_items_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id) ON DELETE SET NULL,
  constraint parse_items_job_id_fkey FOREIGN KEY (job_id) REFERENCES parse_jobs(id) ON DELETE CASCADE,
  constraint parse_items_bytes_while_open CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (file_bytes IS NULL))),
  constraint parse_items_quality CHECK ((quality = ANY (ARRAY['good'::text, 'partial'::text, 'garbled'::text]))),
  constraint parse_items_running_is_held CHECK (((num_nonnulls(worker_id, heartbeat_at, lease_expires_at) =
CASE
    WHEN (state = 'running'::text) THEN 3
    ELSE 0
END) AND ((state <> 'running'::text) OR (lease_token > 0)))),
  constraint parse_items_state CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
  constraint parse_items_terminal_is_finished CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL)))
) with (fillfactor=50);
alter table parse_items alter column file_bytes set storage external;
CREATE INDEX parse_items_by_job ON parse_items USING btree (job_id, id);
CREATE INDEX parse_items_by_name ON parse_items USING gin (folded_name(filename) gin_trgm_ops) WHERE (finished_at IS NOT NULL);
CREATE INDEX parse_items_by_session ON parse_items USING btree (session_id, id);
CREATE INDEX parse_items_by_user ON parse_items USING btree (user_id, id);
CREATE INDEX parse_items_claimable ON parse_items USING btree (run_after, id) WHERE (state = 'queued'::text);
CREATE INDEX parse_items_held ON parse_items USING btree (id) WHERE (state = 'running'::text);
CREATE INDEX parse_items_staged_by_user ON parse_items USING btree (user_id) INCLUDE (byte_size) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX parse_items_unsuccessful ON parse_items USING btree (state, id) WHERE (state = ANY (ARRAY['failed'::text, 'cancelled'::text]));

create table parse_jobs (
  id uuid not null,
  user_id text not null,
  session_id text not null,
  user_email text,
  open_children integer not null,
  total_children integer not null,
  succeeded_children integer default 0 not null,
  kind text default 'parse_job'::text not null,
  schema_version integer default 1 not null,
  state text not null,
  lease_token bigint default 0 not null,
  attempt integer default 0 not null,
  max_attempts integer default 3 not null,
  lost_leases integer default 0 not null,
  run_after timestamp with time zone default now() not null,
  queued_at timestamp with time zone default now() not null,
  claimed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  lease_expires_at timestamp with time zone,
  worker_id text,
  done integer,
  total integer,
  progressed_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  version bigint default 1 not null,
  unlinked_all boolean default false not null,
  unlinked_documents uuid[] default '{}'::uuid[] not null,
  constraint parse_jobs_pkey PRIMARY KEY (id),
  constraint parse_jobs_awaiting_has_children CHECK (((state <> 'awaiting'::text) OR (open_children > 0))),
  constraint parse_jobs_open_children CHECK ((open_children >= 0)),
  constraint parse_jobs_running_is_held CHECK (((num_nonnulls(worker_id, heartbeat_at, lease_expires_at) =
CASE
    WHEN (state = 'running'::text) THEN 3
    ELSE 0
END) AND ((state <> 'running'::text) OR (lease_token > 0)))),
  constraint parse_jobs_state CHECK ((state = ANY (ARRAY['awaiting'::text, 'queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
  constraint parse_jobs_terminal_is_finished CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL)))
) with (fillfactor=50);
CREATE INDEX parse_jobs_by_email ON parse_jobs USING btree (lower(user_email) text_pattern_ops, id) WHERE (user_email IS NOT NULL);
CREATE INDEX parse_jobs_by_session ON parse_jobs USING btree (session_id, id);
CREATE INDEX parse_jobs_by_tail ON parse_jobs USING btree ("right"((id)::text, 8));
CREATE INDEX parse_jobs_by_user ON parse_jobs USING btree (user_id, id);
CREATE INDEX parse_jobs_claimable ON parse_jobs USING btree (run_after, id) WHERE (state = 'queued'::text);
CREATE INDEX parse_jobs_held ON parse_jobs USING btree (id) WHERE (state = 'running'::text);
CREATE INDEX parse_jobs_open_by_user ON parse_jobs USING btree (user_id) WHERE (state = ANY (ARRAY['awaiting'::text, 'queued'::text, 'running'::text]));
CREATE INDEX parse_jobs_unsuccessful ON parse_jobs USING btree (state, id) WHERE (state = ANY (ARRAY['failed'::text, 'cancelled'::text]));

create table publish_refusals (
  id bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  project_id text not null,
  slug text not null,
  deployment_id uuid,
  publish_no integer,
  code text not null,
  user_id text not null,
  requested_by text not null,
  source text,
  constraint publish_refusals_pkey PRIMARY KEY (id),
  constraint publish_refusals_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE
);
CREATE INDEX publish_refusals_by_code ON publish_refusals USING btree (code);
CREATE INDEX publish_refusals_by_deployment ON publish_refusals USING btree (deployment_id, publish_no, id);
CREATE INDEX publish_refusals_by_project ON publish_refusals USING btree (project_id, id);

create table queue_clocks (
  queue text not null,
  ran_seconds double precision default 0 not null,
  ticked_at timestamp with time zone default now() not null,
  constraint queue_clocks_pkey PRIMARY KEY (queue)
);

create table queue_events (
  id bigint generated always as identity not null,
  at timestamp with time zone default clock_timestamp() not null,
  queue text not null,
  row_id uuid not null,
  parent_id uuid,
  from_state text,
  to_state text,
  cause text not null,
  worker_id text,
  worker_version text,
  lease_token bigint,
  waited_ms integer,
  ran_ms integer,
  error_code text,
  constraint queue_events_pkey PRIMARY KEY (row_id, id)
);
CREATE INDEX queue_events_by_time ON queue_events USING brin (at) WITH (pages_per_range='16');
CREATE INDEX queue_events_given_up ON queue_events USING btree (worker_id, id) WHERE (cause = ANY (ARRAY['drain'::text, 'release'::text, 'force_release'::text, 'answer_lost'::text, 'sweep'::text, 'detach'::text, 'poison'::text, 'reclaim'::text, 'clear'::text, 'late_write'::text]));

create table queue_minutes (
  queue text not null,
  minute timestamp with time zone not null,
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
  constraint queue_minutes_pkey PRIMARY KEY (queue, minute)
);

create table queue_pauses (
  queue text not null,
  paused_at timestamp with time zone default now() not null,
  paused_by text not null,
  reason text not null,
  constraint queue_pauses_pkey PRIMARY KEY (queue)
);

create table redeploys (
  id uuid not null,
  role text not null,
  from_version text not null,
  to_version text not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint redeploys_pkey PRIMARY KEY (id),
  constraint redeploys_role CHECK ((role = ANY (ARRAY['web'::text, 'worker'::text])))
);
CREATE INDEX redeploys_by_start ON redeploys USING btree (started_at, id);
CREATE UNIQUE INDEX redeploys_open ON redeploys USING btree (role, to_version) WHERE (ended_at IS NULL);

create table session_sources (
  user_id text not null,
  session_id text not null,
  document_id uuid not null,
  linked_at timestamp with time zone default now() not null,
  linked_by text not null,
  constraint session_sources_pkey PRIMARY KEY (user_id, session_id, document_id),
  constraint session_sources_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id) ON DELETE CASCADE,
  constraint session_sources_linked_by CHECK ((linked_by = ANY (ARRAY['upload'::text, 'parse_item'::text, 'parse_job'::text, 'resolve'::text])))
);
CREATE INDEX session_sources_by_session ON session_sources USING btree (session_id);

create table signin_limits (
  kind text not null,
  key_sha256 bytea not null,
  whole_at timestamp with time zone not null,
  constraint signin_limits_pkey PRIMARY KEY (kind, key_sha256),
  constraint signin_limits_kind CHECK ((kind = ANY (ARRAY['account'::text, 'address'::text])))
);
CREATE INDEX signin_limits_whole ON signin_limits USING btree (whole_at);

create table signin_links (
  token_sha256 bytea not null,
  operator_id uuid not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  id uuid default gen_random_uuid() not null,
  created_by text,
  revoked_at timestamp with time zone,
  constraint signin_links_pkey PRIMARY KEY (token_sha256),
  constraint signin_links_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX signin_links_by_id ON signin_links USING btree (id);

create table sweeps (
  id integer default 1 not null,
  last_run_at timestamp with time zone,
  last_worker_id text,
  last_version text,
  last_took_ms integer,
  last_requeued integer default 0 not null,
  last_failed integer default 0 not null,
  last_reconciled integer default 0 not null,
  interval_seconds numeric default 30 not null,
  constraint sweeps_pkey PRIMARY KEY (id),
  constraint sweeps_one_row CHECK ((id = 1))
);

create table webhook (
  id integer default 1 not null,
  look bigint default 0 not null,
  recorded bigint default 0 not null,
  looked_at timestamp with time zone,
  failing_since timestamp with time zone,
  failures integer default 0 not null,
  retry_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_failure text,
  last_sent_at timestamp with time zone,
  sent_total bigint default 0 not null,
  failed_total bigint default 0 not null,
  given_up_total bigint default 0 not null,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_failing CHECK (((failing_since IS NULL) = (failures = 0))),
  constraint webhook_one_row CHECK ((id = 1))
);

create table webhook_attention (
  key text not null,
  id uuid default gen_random_uuid() not null,
  began_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  facts jsonb not null,
  message_id uuid,
  constraint webhook_attention_pkey PRIMARY KEY (key)
);

create table webhook_messages (
  id uuid not null,
  no bigint generated always as identity not null,
  attention_key text not null,
  event text not null,
  body text not null,
  created_at timestamp with time zone default now() not null,
  retry_at timestamp with time zone default now() not null,
  tries integer default 0 not null,
  sender_token bigint default 0 not null,
  sender_expires_at timestamp with time zone,
  doubted boolean default false not null,
  sent_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  given_up_at timestamp with time zone,
  constraint webhook_messages_pkey PRIMARY KEY (id),
  constraint webhook_messages_end_once CHECK ((num_nonnulls(sent_at, withdrawn_at, given_up_at) <= 1)),
  constraint webhook_messages_event CHECK ((event = ANY (ARRAY['attention.began'::text, 'attention.ended'::text])))
);
CREATE INDEX webhook_messages_by_key ON webhook_messages USING btree (attention_key, no);
CREATE INDEX webhook_messages_open ON webhook_messages USING btree (no) WHERE ((sent_at IS NULL) AND (withdrawn_at IS NULL) AND (given_up_at IS NULL));

create table workers (
  id text not null,
  label text not null,
  role text not null,
  version text not null,
  host text not null,
  pid integer not null,
  capabilities text[] default '{}'::text[] not null,
  kinds jsonb default '{}'::jsonb not null,
  slots integer default 0 not null,
  heartbeat_seconds numeric default 30 not null,
  started_at timestamp with time zone default now() not null,
  heartbeat_at timestamp with time zone default now() not null,
  draining_since timestamp with time zone,
  drained_by text,
  kill_deadline_at timestamp with time zone,
  stopped_at timestamp with time zone,
  gone_at timestamp with time zone,
  constraint workers_pkey PRIMARY KEY (id),
  constraint workers_drained_by CHECK ((drained_by = ANY (ARRAY['shutdown'::text, 'operator'::text]))),
  constraint workers_draining CHECK (((draining_since IS NULL) = (drained_by IS NULL))),
  constraint workers_role CHECK ((role = ANY (ARRAY['web'::text, 'worker'::text, 'inline'::text])))
) with (fillfactor=50);
CREATE INDEX workers_by_start ON workers USING btree (started_at, id);
CREATE INDEX workers_live ON workers USING btree (role, version) WHERE ((stopped_at IS NULL) AND (gone_at IS NULL));

CREATE OR REPLACE FUNCTION public.folded_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
      select case when octet_length(name) = length(name) then lower(name)
        else translate(replace(replace(lower(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f]', '', 'g') collate "und-x-icu"), 'ß', 'ss'), 'æ', 'ae'), 'łøđðı', 'loddi') end $function$;
