-- Find answers at five million rows. Each index here serves one search form; what is not listed walks indexes that were there before.
-- Files and citations, the bulk of the rows, get nothing but the file name: it is written once a row, when the row ends.

-- An address as it was typed, whole or from its start, newest upload first. Pattern operators: the database's collation does not matter.
create index parse_jobs_by_email on parse_jobs (lower(user_email) text_pattern_ops, id) where user_email is not null;

-- The console shows uploads and analyses by the last eight digits of their id; files and citations have a name there.
create index parse_jobs_by_tail on parse_jobs ((right(id::text, 8)));
create index analysis_jobs_by_tail on analysis_jobs ((right(id::text, 8)));

create index deployments_by_slug_start on deployments (slug text_pattern_ops);
create index deployments_by_project_start on deployments (project_id text_pattern_ops);

-- A name without case, accents and ligatures; the same expression in the index and in the search. Total: it must never fail a settle.
-- Plain ASCII, most names, costs a tenth. Letters that have no decomposition are spelled out. With ICU, case is folded in every script.
do $migration$
declare
  fold text := case when exists (select from pg_collation where collname = 'und-x-icu') then ' collate "und-x-icu"' else '' end;
begin
  execute format($body$
    create function folded_name(name text) returns text language sql immutable strict parallel safe as $$
      select case when octet_length(name) = length(name) then lower(name)
        else translate(replace(replace(lower(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f]', '', 'g')%s), 'ß', 'ss'), 'æ', 'ae'), 'łøđðı', 'loddi') end $$
  $body$, fold);
end $migration$;

-- Any part of a name where the server has pg_trgm and lets us have it; else its start only, and the page says so. A server without either
-- right is no reason not to start. Open files are not in it (they would be written three times a life): a walk over the open rows finds them.
do $migration$
declare
  place text;
begin
  begin
    create extension if not exists pg_trgm;
  exception when others then
    raise notice 'pg_trgm is not to be had (%): file names will be found by their start only', sqlerrm;
  end;
  select quote_ident(n.nspname) into place from pg_opclass o join pg_namespace n on n.oid = o.opcnamespace where o.opcname = 'gin_trgm_ops';
  if place is null then
    create index parse_items_by_name_start on parse_items (left(folded_name(filename), 200) text_pattern_ops) where finished_at is not null;
  else
    execute format('create index parse_items_by_name on parse_items using gin (folded_name(filename) %s.gin_trgm_ops) where finished_at is not null', place);
  end if;
end $migration$;
