import { ChevronDown } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { Person } from '../../server/console/settings-people.js';
import type { Order } from '~/acting';
import { useDesk } from './action-desk';
import { useWhyNot } from '~/rights';
import { MenuList } from './ui/menu-list';

const roles = ['viewer', 'operator', 'admin'] as const;

/** What an admin may do to a person. What is of no use now stays in the list and says why. */
export function PersonMenu({ person, lastAdmin, onLink }: { person: Person; lastAdmin: boolean; onLink: () => void }) {
  const { open } = useDesk();
  const whyNot = useWhyNot('change_role');
  const { id, name, role } = person;
  const disabled = person.disabledAt !== null;
  const last = lastAdmin && role === 'admin' && !disabled ? 'the last admin' : null;
  const order = (action: string, more: Pick<Order, 'ask'> & { fields?: Record<string, string> } = {}) => () => open({ action, subject: name, ...more, fields: { id, ...more.fields } });
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="btn" aria-disabled={whyNot !== null || undefined} title={whyNot ?? undefined} data-person-menu={name}>Change<span className="visually-hidden"> {name}</span><ChevronDown aria-hidden /></DropdownMenu.Trigger>
      <MenuList sideOffset={6}>
        {whyNot === null ? null : <div className="menu-label">{whyNot}</div>}
        {roles.filter((one) => one !== role).map((one) => (
          <Item key={one} why={whyNot ?? (person.signsIn === 'provider' ? 'from the provider' : last)} onSelect={order('change_role', { ask: ['Make', `${one}?`], fields: { role: one, was: role } })}>Make {one}</Item>
        ))}
        <div className="menu-line" />
        <Item why={whyNot ?? (disabled ? 'disabled' : null)} onSelect={onLink}>Make a sign-in link</Item>
        <Item why={whyNot ?? (person.openSessions === 0 ? 'no open session' : null)} onSelect={order('sign_out_everywhere', { ask: ['Sign', 'out everywhere?'] })}>Sign out everywhere</Item>
        <div className="menu-line" />
        {disabled ? <Item why={whyNot} onSelect={order('enable_account')}>Enable again</Item> : <Item why={whyNot ?? last} onSelect={order('disable_account')}>Disable</Item>}
      </MenuList>
    </DropdownMenu.Root>
  );
}

function Item({ why, onSelect, children }: { why: string | null; onSelect: () => void; children: React.ReactNode }) {
  return <DropdownMenu.Item className="menu-item" disabled={why !== null} onSelect={onSelect}>{children}{why === null || why.length > 40 ? null : <span className="dim ml-auto">{why}</span>}</DropdownMenu.Item>;
}
