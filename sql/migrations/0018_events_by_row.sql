-- concurrently
-- An event is asked for by its row or by its time, never by its number alone. One index where there were two: each transition writes one event.
create unique index concurrently if not exists queue_events_key on queue_events (row_id, id);
-- Renames the index to that of the constraint; run again after a crash, it exchanges it once more.
alter table queue_events drop constraint if exists queue_events_pkey, add constraint queue_events_pkey primary key using index queue_events_key;
drop index concurrently if exists queue_events_by_row;
