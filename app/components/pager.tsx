import { Link } from '@remix-run/react';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { queuePath, withFilter } from '~/format/filters';

export function Pager({ page, filters }: { page: QueuePage; filters: QueueFilters }) {
  if (page.next === null && page.previous === null && filters.before === null) return null;
  const to = (change: Partial<QueueFilters>) => queuePath(page.queue.slug, withFilter(filters, change));
  return (
    <nav className="pager" aria-label="Pages">
      {page.previous !== null || filters.before !== null
        ? <><Link className="btn" to={to({})}>Newest</Link>{page.previous !== null ? <Link className="btn" rel="prev" to={to({ after: page.previous })}><ChevronLeft aria-hidden />Newer</Link> : null}</>
        : null}
      {page.next !== null ? <Link className="btn" rel="next" to={to({ before: page.next })}>Older<ChevronRight aria-hidden /></Link> : null}
    </nav>
  );
}
