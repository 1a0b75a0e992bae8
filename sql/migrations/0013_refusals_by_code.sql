-- The metrics count refused publishes by code at each scrape: an index-only scan instead of reading who was refused.
create index publish_refusals_by_code on publish_refusals (code);
