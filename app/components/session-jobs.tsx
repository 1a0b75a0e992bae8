import { Link } from '@remix-run/react';
import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { ShortId } from './names';
import { StateMark } from './state-mark';
import { Section } from './ui/section';
import { counted } from '~/format/count';
import { filterQuery, noFilters } from '~/format/filters';
import { checkedOf } from '~/format/journey';
import { shownState } from '~/format/state';
import { useFollow } from '~/follow';
import { useFreshRows } from '~/fresh-rows';
import { useLiveRows, useNow } from '~/live/use-live';

interface Props {
  title: string;
  slug: 'parse-jobs' | 'analysis-jobs';
  jobs: { rows: RowView[]; more: boolean };
  own: { session: string; user: string };
  path: (id: string) => string;
  /** Where the whole list is. */
  all: string;
  none: string;
}

/** The session's uploads or analyses, followed live; what they change of the page is read again when one ends or comes. */
export function SessionJobs({ title, slug, jobs, own, path, all, none }: Props) {
  const live = useLiveRows(`queue:${slug}${filterQuery({ ...noFilters, ...own })}`, jobs.rows, noFilters);
  const now = useNow();
  useFreshRows(jobs.more ? [] : live.fresh, false);
  useFollow(live.rows.map((row) => `${row.id}${row.state}${row.columns.open_children}`).join());
  return (
    <Section title={title} aside={<Link className="link" discover="none" to={all}>{jobs.more ? `All, the newest ${jobs.rows.length} are here` : 'As a list'}</Link>}>
      {live.rows.length === 0 ? <p className="card dim px-[14px] py-3">{none}</p> : (
        <ul className="card linked">
          {live.rows.map((row) => (
            <li key={row.id}>
              <StateMark state={shownState(row, now)} />
              <Link className="row-link min-w-0" discover="none" to={path(row.id)}>{subject(slug, row)} <span className="dim"><ShortId id={row.id} /></span></Link>
              <span className="soft whitespace-nowrap"><Age at={row.createdAt} suffix=" ago" /></span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function subject(slug: Props['slug'], row: RowView): string {
  const { done, total } = checkedOf(row);
  if (slug === 'analysis-jobs') return total === 0 ? 'Report' : `Report, ${done} of ${counted(total, 'citation')}`;
  return `${done} of ${counted(total, 'file')}`;
}
