import { Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { MenuList } from './ui/menu-list';

/** The list as filtered now, whole (not only this page). `query`: of its filters, empty or with its question mark. */
export default function ExportMenu({ path, query }: { path: string; query: string }) {
  const href = (format: string) => `${path}${query === '' ? '?' : `${query}&`}format=${format}`;
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="btn"><Download aria-hidden />Export</DropdownMenu.Trigger>
      <MenuList sideOffset={6}>
        <DropdownMenu.Item asChild><a className="menu-item" href={href('csv')} download>CSV, for a spreadsheet</a></DropdownMenu.Item>
        <DropdownMenu.Item asChild><a className="menu-item" href={href('json')} download>JSON, for a script</a></DropdownMenu.Item>
      </MenuList>
    </DropdownMenu.Root>
  );
}
