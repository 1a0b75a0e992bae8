-- People who sign in with a password or through a provider, sessions that can be listed and revoked one by one, tokens with scopes,
-- and the brake on guessing. Still only hashes of secrets.

alter table operators
  add column password_hash text,
  add column password_set_at timestamptz,
  add column oidc_issuer text,
  add column oidc_subject text,
  add constraint operators_oidc_whole check ((oidc_issuer is null) = (oidc_subject is null)),
  -- Who comes through a provider is known by the provider alone: a password beside it would outlive their leaving there.
  add constraint operators_one_way_in check (oidc_issuer is null or password_hash is null),
  add constraint operators_password_dated check ((password_hash is null) = (password_set_at is null));
create unique index operators_by_oidc on operators (oidc_issuer, oidc_subject) where oidc_issuer is not null;

-- `id` names a session in lists and logs; the secret's hash changes with the role, the id does not.
-- The hash before the last renewal is good for some seconds more: requests of one browser overtake each other.
alter table operator_sessions
  add column id uuid not null default gen_random_uuid(),
  add column role text,
  add column via text not null default 'link' constraint operator_sessions_via check (via in ('link', 'password', 'oidc')),
  add column previous_sha256 bytea,
  add column renewed_at timestamptz;
create unique index operator_sessions_by_id on operator_sessions (id);
create index operator_sessions_by_previous on operator_sessions (previous_sha256) where previous_sha256 is not null;
create index operator_sessions_newest on operator_sessions (created_at desc, id desc);

alter table signin_links
  add column id uuid not null default gen_random_uuid(),
  add column created_by text,
  add column revoked_at timestamptz;
create unique index signin_links_by_id on signin_links (id);

-- Tokens from before had no scopes and could do everything; they still can.
alter table api_tokens
  add column scopes text[] not null default '{api:read,api:write,api:erase}',
  add column expires_at timestamptz,
  add constraint api_tokens_scopes check (scopes <@ '{api:read,api:write,api:erase}' and cardinality(scopes) > 0);

-- One row for each account or address that tried to sign in lately: the instant at which its allowance is whole again (GCRA).
-- The key is a hash: people type passwords into the name field.
create table signin_limits (
  kind text not null constraint signin_limits_kind check (kind in ('account', 'address')),
  key_sha256 bytea not null,
  whole_at timestamptz not null,
  primary key (kind, key_sha256)
);
create index signin_limits_whole on signin_limits (whole_at);
