import clsx from 'clsx';
import { lazy, memo } from 'react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueueWords } from '../../server/console/queue-page.js';
import type { RowView } from '../../server/console/row-view.js';
import { RowCells } from './row-cells';
import { Later } from './ui/later';
import { capitalised } from '~/format/count';
import { matches } from '~/format/filters';
import { shownState } from '~/format/state';
import { useNow } from '~/live/use-live';
import type { Reading } from '~/reading';
import type { Selection } from '~/selection';

// Menus come after the list that they belong to.
const RowMenu = lazy(() => import('./action-row-menu'));

interface Props {
  queue: QueueWords;
  rows: RowView[];
  filters: QueueFilters;
  selection: Selection;
  /** The row that the keys have reached. */
  cursor: string | null;
  watch: Reading['watch'];
  /** Whose menu of actions is open. */
  menu: string | null;
  onMenu: (menu: string | null) => void;
}

/** What a row is about, where its noun says it less well. */
const headings: Record<string, string> = { parse_jobs: 'Job', parse_items: 'File', deployments: 'App' };

export function RowTable({ queue, rows, filters, selection, cursor, watch, menu, onMenu }: Props) {
  const all = rows.length > 0 && selection.ids.size === rows.length;
  return (
    <div className="card table-wrap" {...watch}>
      <table className="table stack" aria-label={queue.title}>
        <thead>
          <tr>
            <th scope="col" className="pick">
              <input type="checkbox" aria-label="Select every row of this page" checked={all} onChange={() => selection.all(all ? [] : rows.map((row) => row.id))} />
            </th>
            <th scope="col">State</th><th scope="col">{headings[queue.table] ?? capitalised(queue.noun)}</th><th scope="col">Lease</th>
            <th scope="col" className="r">Beat</th><th scope="col">Holder</th><th scope="col" className="r">Try</th>
            <th scope="col">User</th>{queue.listColumns.includes('session_id') ? <th scope="col">Session</th> : null}<th scope="col" className="r">Age</th><th scope="col">Last error</th><th scope="col"><span className="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => <Row key={row.id} row={row} slug={queue.slug} noun={queue.noun} menu={menu === row.id} onMenu={onMenu} filters={filters} selected={selection.ids.has(row.id)} onToggle={selection.toggle} cursor={cursor === row.id} />)}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  row: RowView;
  slug: string;
  noun: string;
  menu: boolean;
  onMenu: (menu: string | null) => void;
  filters: QueueFilters;
  selected: boolean;
  cursor: boolean;
  onToggle: (id: string) => void;
}

const Row = memo(function Row({ row, slug, noun, menu, onMenu, filters, selected, cursor, onToggle }: RowProps) {
  const now = useNow();
  const state = shownState(row, now);
  return (
    <tr className={clsx(state === 'stale' && 'bad', !matches(filters, row, now) && 'left-list')} data-row-id={row.id} data-version={row.version} data-selected={selected} data-cursor={cursor}>
      <td className="pick hide-narrow"><input type="checkbox" aria-label={`Select row ${row.id.slice(-8)}`} checked={selected} onChange={() => onToggle(row.id)} /></td>
      <RowCells row={row} slug={slug} state={state} />
      <td className="row-menu-cell actions"><Later><RowMenu row={row} slug={slug} noun={noun} open={menu} onOpen={(open) => onMenu(open ? row.id : null)} /></Later></td>
    </tr>
  );
});
