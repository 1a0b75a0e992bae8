import { lazy } from 'react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { QueuePause } from './queue-pause';
import { Button } from './ui/button';
import { CopyButton } from './ui/copy-button';
import { Later } from './ui/later';
import { counted } from '~/format/count';
import { filterQuery } from '~/format/filters';
import type { FreshRows } from '~/fresh-rows';
import type { Selection } from '~/selection';

// Menus come after the page that they belong to.
const BulkMenu = lazy(() => import('./action-bulk-menu'));
const ExportMenu = lazy(() => import('./export-menu'));

interface Props {
  page: QueuePage;
  filters: QueueFilters;
  selection: Selection;
  fresh: FreshRows;
  /** Whose menu of actions is open. */
  menu: string | null;
  onMenu: (menu: string | null) => void;
}

export function QueueHeader({ page, filters, selection, fresh, menu, onMenu }: Props) {
  const picked = [...selection.ids];
  return (
    <div className="queue-head">
      <h1>{page.queue.title}</h1>
      <span className="dim" data-matching={page.matching}>{counted(page.matching, 'row')}</span>
      <div className="queue-tools">
        {fresh.count > 0 ? <button type="button" className="pill" onClick={fresh.show} aria-live="polite">{fresh.count} new</button> : null}
        {picked.length > 0 ? (
          <>
            <span className="soft">{picked.length} selected</span>
            <Later><BulkMenu page={page} filters={filters} picked={picked} open={menu === 'bulk'} onOpen={(open) => onMenu(open ? 'bulk' : null)} /></Later>
            <CopyButton text={picked.join('\n')} label="Copy ids" />
            <Button look="quiet" onClick={selection.clear}>Clear</Button>
          </>
        ) : null}
        <QueuePause slug={page.queue.slug} title={page.queue.title} />
        <Later><ExportMenu path={`/queues/${page.queue.slug}/export`} query={filterQuery({ ...filters, before: null, after: null })} /></Later>
      </div>
    </div>
  );
}
