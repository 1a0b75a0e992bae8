import { Check, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useRef, useState } from 'react';
import type { Theme } from '~/theme';
import { chooseTheme } from '~/theme';
import { MenuList } from './ui/menu-list';

const themes = [['system', 'As the system', Monitor], ['light', 'Light', Sun], ['dark', 'Dark', Moon]] as const;

export default function OperatorMenu({ name, role, theme: initial }: { name: string; role: string; theme: Theme }) {
  const [theme, setTheme] = useState(initial);
  const signOut = useRef<HTMLFormElement>(null);
  const choose = (next: Theme) => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <>
      <form ref={signOut} method="post" action="/signout" hidden />
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger className="btn quiet icon" aria-label={`Signed in as ${name}: menu`}><UserRound aria-hidden /></DropdownMenu.Trigger>
        <MenuList sideOffset={6}>
          <div className="menu-label"><bdi>{name}</bdi> · {role}</div>
          <div className="menu-line" />
          <DropdownMenu.RadioGroup value={theme} onValueChange={(next) => choose(next as Theme)}>
            {themes.map(([value, label, Icon]) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item" onSelect={(event) => event.preventDefault()}>
                <Icon size={15} aria-hidden />{label}
                <DropdownMenu.ItemIndicator className="ml-auto"><Check size={14} aria-hidden /></DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <div className="menu-line" />
          <DropdownMenu.Item className="menu-item" onSelect={() => signOut.current?.submit()}><LogOut size={15} aria-hidden />Sign out</DropdownMenu.Item>
        </MenuList>
      </DropdownMenu.Root>
    </>
  );
}
