import { Form, Link, useNavigate } from '@remix-run/react';
import clsx from 'clsx';
import { X } from 'lucide-react';
import type { FilterState, QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { Shape } from './ui/shape';
import { count } from '~/format/count';
import { useFilterBox } from '~/filter-box';
import { activeFilters } from '~/format/filter-text';
import { queuePath, shortSeconds, toggledState, withFilter } from '~/format/filters';
import { stateLooks } from '~/format/state';

interface Props {
  page: QueuePage;
  filters: QueueFilters;
}

/** Every filter is a link or a form: it lives in the URL, works before any script has run, and comes back with the back button. */
export function QueueFilterBar({ page, filters }: Props) {
  const slug = page.queue.slug;
  return (
    <div className="filter-bar" role="search" aria-label={`Filter ${page.queue.title}`}>
      <div className="chips">
        {statesOf(page).map((state) => <StateChip key={state} state={state} page={page} filters={filters} />)}
      </div>
      <div className="chips">
        <FilterBox key={slug} slug={slug} filters={filters} />
        <Pick label="Worker" value={filters.worker} options={unique(page.holders.map((holder) => holder.label))} to={(worker) => queuePath(slug, withFilter(filters, { worker }))} />
        <Pick label="Version" value={filters.version} options={unique(page.holders.map((holder) => holder.version))} to={(version) => queuePath(slug, withFilter(filters, { version }))} />
        <AgePick slug={slug} filters={filters} />
        {activeFilters(filters, shortSeconds).map(({ name, label, value }) => (
          <Link key={name} className="chip on" discover="none" to={queuePath(slug, withFilter(filters, { [name]: null }))} preventScrollReset>
            <span>{label} <bdi className="clip inline-block align-bottom max-w-[22ch]" title={value}>{value}</bdi></span>
            <X size={13} aria-label="remove" />
          </Link>
        ))}
      </div>
    </div>
  );
}

function statesOf(page: QueuePage): FilterState[] {
  return page.queue.states.flatMap((state): FilterState[] => (state === 'running' || state === 'building' ? [state, 'stale'] : [state]));
}

function StateChip({ state, page, filters }: Props & { state: FilterState }) {
  const { word, tone, shape } = stateLooks[state];
  const on = filters.states.includes(state);
  const open = state in page.open ? page.open[state as keyof QueuePage['open']] : null;
  return (
    <Link className={clsx('chip', on && 'on', state === 'stale' && open ? 'tone-stale' : `tone-${tone}`)} to={queuePath(page.queue.slug, toggledState(filters, state))}
      discover="none" aria-current={on ? 'true' : undefined} preventScrollReset data-chip={state}>
      <Shape name={shape} />{word}{open !== null ? <span className={clsx('chip-count', state === 'stale' && open > 0 && 'bad')}>{count(open)}</span> : null}
    </Link>
  );
}

/** Starts empty after each use: what was typed has become chips. */
function FilterBox({ slug, filters }: { slug: string; filters: QueueFilters }) {
  const current = queuePath(slug, filters);
  const form = useFilterBox(current);
  const kept = new URLSearchParams(current.split('?')[1] ?? '');
  return (
    <Form {...form} method="get" action={`/queues/${slug}`} className="filter-form">
      {[...kept].map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />)}
      <input className="field w-full" name="q" data-filter-box maxLength={200} autoComplete="off" spellCheck={false} aria-label="Filter by session, user, worker, version, error or age"
        placeholder="session, user:…, error:…, older:5m" />
      <kbd className="filter-key" aria-hidden="true">f</kbd>
    </Form>
  );
}

interface PickProps {
  label: string;
  value: string | null;
  options: string[];
  to: (value: string | null) => string;
}

function Pick({ label, value, options, to }: PickProps) {
  const navigate = useNavigate();
  const all = value !== null && !options.includes(value) ? [value, ...options] : options;
  if (all.length === 0) return null;
  return (
    <select className="field" aria-label={label} value={value ?? ''} onChange={(event) => navigate(to(event.target.value || null), { preventScrollReset: true })}>
      <option value="">{label}: any</option>
      {all.map((option) => <option key={option} value={option}>{option}</option>)}
    </select>
  );
}

const ages = [['', 'Age: any'], ['older:60', 'older than 1 m'], ['older:300', 'older than 5 m'], ['older:3600', 'older than 1 h'], ['older:86400', 'older than 1 d'],
  ['newer:300', 'newer than 5 m'], ['newer:3600', 'newer than 1 h'], ['newer:86400', 'newer than 1 d']] as const;

function AgePick({ slug, filters }: { slug: string; filters: QueueFilters }) {
  const navigate = useNavigate();
  const value = filters.older !== null ? `older:${filters.older}` : filters.newer !== null ? `newer:${filters.newer}` : '';
  const choose = (chosen: string) => {
    const [kind, seconds] = chosen.split(':');
    const age = seconds === undefined ? null : Number(seconds);
    navigate(queuePath(slug, withFilter(filters, { older: kind === 'older' ? age : null, newer: kind === 'newer' ? age : null })), { preventScrollReset: true });
  };
  return (
    <select className="field" aria-label="Age" value={value} onChange={(event) => choose(event.target.value)}>
      {ages.map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      {ages.every(([key]) => key !== value) ? <option value={value}>{value.replace(':', ' than ')} s</option> : null}
    </select>
  );
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
