-- Errors only occur in some states. Without knowing that, the planner expects a filter by error to find almost nothing among the failed
-- rows, and reads and sorts all of them for one page. Costs nothing on a write: statistics are gathered by ANALYZE.
create statistics parse_items_state_and_error (mcv) on state, error_code from parse_items;
create statistics parse_jobs_state_and_error (mcv) on state, error_code from parse_jobs;
