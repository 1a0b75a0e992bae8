-- What operators did and tried to do: one row an attempt, written in the transaction of its effect, or alone when it was refused.
-- Never a document's text, a file name or an e-mail: before and after hold states, tokens, counts and ids.

create table operator_actions (
  id bigint generated always as identity primary key,
  -- made by whoever asks, one a press: a repeated request finds the answer of the first
  attempt_id uuid not null,
  at timestamptz not null default clock_timestamp(),
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
  constraint operator_actions_actor_kind check (actor_kind in ('operator', 'cli', 'token')),
  constraint operator_actions_via check (via in ('page', 'bulk', 'cli', 'api')),
  constraint operator_actions_outcome check (outcome in ('applied', 'refused')),
  constraint operator_actions_refused_says_why check ((outcome = 'refused') = (refusal is not null))
);
create unique index operator_actions_by_attempt on operator_actions (attempt_id);
create index operator_actions_by_row on operator_actions (row_id, id) where row_id is not null;
create index operator_actions_by_actor on operator_actions (actor_name, id);
create index operator_actions_by_action on operator_actions (action, id);
create index operator_actions_by_target on operator_actions (target_id, id);
create index operator_actions_by_time on operator_actions (at);

-- A user's reset while an upload of that session is still being parsed: the upload's own end must not link again what was unlinked.
alter table parse_jobs add column unlinked_all boolean not null default false;
alter table parse_jobs add column unlinked_documents uuid[] not null default '{}';
