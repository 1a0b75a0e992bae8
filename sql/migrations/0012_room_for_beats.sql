-- A beat is a HOT update only if its page has room for the new version. Rows claimed together lie together, and all of them beat at once:
-- with fillfactor 80 about half of twenty adjacent beats left their page, with 50 one in twenty.
alter table parse_items set (fillfactor = 50);
alter table parse_jobs set (fillfactor = 50);
alter table workers set (fillfactor = 50);
alter table deployments set (fillfactor = 50);
