import { Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { BulkMenu } from './action-bulk-menu';
import { QueuePause } from './queue-pause';
import { Button } from './ui/button';
import { CopyButton } from './ui/copy-button';
import { counted } from '~/format/count';
import { filterQuery } from '~/format/filters';
import type { FreshRows } from '~/fresh-rows';
import type { Selection } from '~/selection';

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
            <BulkMenu page={page} filters={filters} picked={picked} open={menu === 'bulk'} onOpen={(open) => onMenu(open ? 'bulk' : null)} />
            <CopyButton text={picked.join('\n')} label="Copy ids" />
            <Button look="quiet" onClick={selection.clear}>Clear</Button>
          </>
        ) : null}
        <QueuePause slug={page.queue.slug} title={page.queue.title} />
        <Export slug={page.queue.slug} filters={filters} />
      </div>
    </div>
  );
}

/** The list as filtered now, whole (not only this page). */
export function Export({ slug, filters }: { slug: string; filters: QueueFilters }) {
  const query = filterQuery({ ...filters, before: null, after: null });
  const href = (format: string) => `/queues/${slug}/export${query === '' ? '?' : `${query}&`}format=${format}`;
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="btn"><Download aria-hidden />Export</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6}>
          <DropdownMenu.Item asChild><a className="menu-item" href={href('csv')} download>CSV, for a spreadsheet</a></DropdownMenu.Item>
          <DropdownMenu.Item asChild><a className="menu-item" href={href('json')} download>JSON, for a script</a></DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
