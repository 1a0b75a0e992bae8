-- concurrently
-- The web process's own worker, which takes work inline while no worker lives, is a process of its own in the registry.
alter table workers drop constraint if exists workers_role, add constraint workers_role check (role in ('web', 'worker', 'inline'));
-- What became of the leases of one process, without reading the log of a whole redeploy. Only rare ends are in it: an acquire or a success never writes to it.
create index concurrently if not exists queue_events_given_up on queue_events (worker_id, id)
  where cause in ('drain', 'release', 'force_release', 'answer_lost', 'sweep', 'detach', 'poison', 'reclaim', 'clear', 'late_write');
