import { Form, Link } from '@remix-run/react';
import clsx from 'clsx';
import { X } from 'lucide-react';
import type { FilterState, QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { Shape } from './ui/shape';
import { useFilterBox } from '~/filter-box';
import { count } from '~/format/count';
import { activeFilters } from '~/format/filter-text';
import { shortSeconds, toggledState, withFilter } from '~/format/filters';
import { reportsPath } from '~/format/report-words';
import { stateLooks } from '~/format/state';

/** Every filter is a link or a form: it lives in the URL, and comes back with the back button. */
export function ReportFilterBar({ page, filters }: { page: QueuePage; filters: QueueFilters }) {
  const states = page.queue.states.flatMap((state): FilterState[] => (state === 'running' ? [state, 'stale'] : [state]));
  return (
    <div className="filter-bar" role="search" aria-label="Filter reports">
      <div className="chips">{states.map((state) => <Chip key={state} state={state} page={page} filters={filters} />)}</div>
      <div className="chips">
        <Box filters={filters} />
        {activeFilters(filters, shortSeconds).map(({ name, label, value }) => (
          <Link key={name} className="chip on" discover="none" to={reportsPath(withFilter(filters, { [name]: null }))}>
            <span>{label} <bdi className="clip inline-block align-bottom max-w-[22ch]" title={value}>{value}</bdi></span><X size={13} aria-label="remove" />
          </Link>
        ))}
      </div>
    </div>
  );
}

function Chip({ state, page, filters }: { state: FilterState; page: QueuePage; filters: QueueFilters }) {
  const { word, tone, shape } = stateLooks[state];
  const on = filters.states.includes(state);
  const open = state in page.open ? page.open[state as keyof QueuePage['open']] : null;
  return (
    <Link className={clsx('chip', on && 'on', `tone-${tone}`)} to={reportsPath(toggledState(filters, state))} discover="none" aria-current={on ? 'true' : undefined} preventScrollReset data-chip={state}>
      <Shape name={shape} />{word}{open !== null ? <span className={clsx('chip-count', state === 'stale' && open > 0 && 'bad')}>{count(open)}</span> : null}
    </Link>
  );
}

/** Starts empty after each use: what was typed has become chips. */
function Box({ filters }: { filters: QueueFilters }) {
  const current = reportsPath(filters);
  const form = useFilterBox(current);
  return (
    <Form {...form} method="get" action="/reports" className="filter-form">
      {[...new URLSearchParams(current.split('?')[1] ?? '')].map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />)}
      <input className="field w-full" name="q" data-filter-box maxLength={200} autoComplete="off" spellCheck={false} aria-label="Filter by session or user" placeholder="session, user:…" />
      <kbd className="filter-key" aria-hidden="true">f</kbd>
    </Form>
  );
}
