import { useState } from 'react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { LeftOut } from './left-out';
import { NothingYet } from './nothing-yet';
import { Pager } from './pager';
import { QueueFilterBar } from './queue-filter-bar';
import { QueueHeader } from './queue-header';
import { NothingMatches } from './nothing-matches';
import { RowTable } from './row-table';
import { useActKey } from '~/act-key';
import { filterQuery, isFiltered, queuePath, withFilter } from '~/format/filters';
import { useLiveRows, useLiveView } from '~/live/use-live';
import { useReading } from '~/reading';
import { useRowKeys } from '~/row-keys';
import { useSelection } from '~/selection';
import { useFreshRows } from '~/fresh-rows';

/** A queue's list: filters, the live table, and new rows waiting their turn. */
export function QueueView({ page, filters, origin }: { page: QueuePage; filters: QueueFilters; origin: string }) {
  const topic = `queue:${page.queue.slug}${filterQuery(filters)}`;
  const counted = useLiveView<QueuePage>(topic, page);
  const live = useLiveRows(topic, page.rows, filters);
  const selection = useSelection(page.rows);
  /** `bulk`, the id of a row, or null: whose menu of actions is open. */
  const [menu, setMenu] = useState<string | null>(null);
  const cursor = useRowKeys(live.rows, selection, (id) => `/queues/${page.queue.slug}/${id}`, menu !== null);
  useActKey(selection.ids.size, cursor, setMenu);
  const { reading, watch } = useReading(menu ?? cursor);
  const fresh = useFreshRows(live.fresh, reading || selection.ids.size > 0);
  return (
    <>
      <QueueHeader page={counted} filters={filters} selection={selection} fresh={fresh} menu={menu} onMenu={setMenu} />
      <QueueFilterBar page={counted} filters={filters} />
      <LeftOut understood={filterQuery(filters)} />
      {live.rows.length > 0 ? <RowTable queue={page.queue} rows={live.rows} filters={filters} selection={selection} cursor={cursor} watch={watch} menu={menu} onMenu={setMenu} />
        : isFiltered(filters) || !page.empty ? <NothingMatches slug={page.queue.slug} noun={page.queue.noun} />
        : <NothingYet origin={origin} queue={page.queue} />}
      <Pager page={page} before={filters.before} to={(change) => queuePath(page.queue.slug, withFilter(filters, change))} />
    </>
  );
}
