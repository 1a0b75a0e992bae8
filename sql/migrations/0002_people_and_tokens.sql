-- Who may see the console and who may call the API. Only hashes of secrets are stored.

create table operators (
  id uuid primary key,
  name text not null,
  role text not null constraint operators_role check (role in ('viewer', 'operator', 'admin')),
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);
create unique index operators_by_name on operators (lower(name));

create table operator_sessions (
  token_sha256 bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  user_agent text
);
create index operator_sessions_by_operator on operator_sessions (operator_id);

create table signin_links (
  token_sha256 bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table api_tokens (
  id uuid primary key,
  name text not null,
  token_sha256 bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index api_tokens_by_hash on api_tokens (token_sha256);
create unique index api_tokens_live_name on api_tokens (name) where revoked_at is null;

-- The answer to a request that carried an Idempotency-Key, kept 24 h per token and path.
create table idempotency_keys (
  token_id uuid not null references api_tokens on delete cascade,
  path text not null,
  key text not null,
  body_sha256 bytea not null,
  status integer not null,
  response jsonb not null,
  created_at timestamptz not null default now(),
  primary key (token_id, path, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
