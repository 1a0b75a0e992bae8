import { Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import { filterQuery } from '~/format/filters';

/** The list as filtered now, whole (not only this page). */
export default function ExportMenu({ slug, filters }: { slug: string; filters: QueueFilters }) {
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
