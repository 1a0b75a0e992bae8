-- What is told through WEBHOOK_URL. It is here and nowhere else: every web process sees the same, and none tells twice because it was restarted.
create table webhook (
  id integer primary key default 1 constraint webhook_one_row check (id = 1),
  -- The last look that was taken, and the last that was written down: that one alone fences off earlier ones, so that slow looks may overlap.
  look bigint not null default 0,
  recorded bigint not null default 0,
  looked_at timestamptz,
  -- The receiver, as the last tries found it; retry_at: it rests until then.
  failing_since timestamptz,
  failures integer not null default 0,
  retry_at timestamptz,
  last_failure_at timestamptz,
  last_failure text,
  last_sent_at timestamptz,
  sent_total bigint not null default 0,
  failed_total bigint not null default 0,
  given_up_total bigint not null default 0,
  constraint webhook_failing check ((failing_since is null) = (failures = 0))
);
insert into webhook default values;

-- What needs attention as of the last look. Without a message it has not been told: it may be a moment's.
create table webhook_attention (
  key text primary key,
  id uuid not null default gen_random_uuid(),
  began_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  facts jsonb not null,
  message_id uuid
);

-- Waiting until one of its three ends. A sender holds it by its token until sender_expires_at; then another may take it.
create table webhook_messages (
  id uuid primary key,
  no bigint generated always as identity,
  attention_key text not null,
  event text not null constraint webhook_messages_event check (event in ('attention.began', 'attention.ended')),
  body text not null,
  created_at timestamptz not null default now(),
  retry_at timestamptz not null default now(),
  tries integer not null default 0,
  sender_token bigint not null default 0,
  sender_expires_at timestamptz,
  -- A try ended without an answer: the receiver may have it.
  doubted boolean not null default false,
  sent_at timestamptz,
  withdrawn_at timestamptz,
  given_up_at timestamptz,
  constraint webhook_messages_end_once check (num_nonnulls(sent_at, withdrawn_at, given_up_at) <= 1)
);
create index webhook_messages_open on webhook_messages (no) where sent_at is null and withdrawn_at is null and given_up_at is null;
create index webhook_messages_by_key on webhook_messages (attention_key, no);
