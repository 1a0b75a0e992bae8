import { NavLink } from '@remix-run/react';
import type { ReactNode } from 'react';
import { useRights } from '~/rights';

const tabs: readonly { to: string; label: string; roles: readonly string[] }[] = [
  { to: '/settings/account', label: 'Your account', roles: ['viewer', 'operator', 'admin'] },
  { to: '/settings/people', label: 'People', roles: ['admin'] },
  { to: '/settings/sign-ins', label: 'Sign-ins', roles: ['admin'] },
  { to: '/settings/tokens', label: 'API tokens', roles: ['admin'] },
  { to: '/settings/queues', label: 'Queue pauses', roles: ['operator', 'admin'] },
  { to: '/settings/webhook', label: 'Webhook', roles: ['operator', 'admin'] },
  { to: '/settings/retention', label: 'Retention', roles: ['operator', 'admin'] },
  { to: '/settings/read-only', label: 'Read-only', roles: ['operator', 'admin'] },
];

/** Every settings page under one heading; only the pages that this role may open are named. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const { role } = useRights();
  return (
    <>
      <div className="queue-head"><h1>Settings</h1></div>
      <nav className="chips settings-tabs" aria-label="Settings">
        {tabs.filter(({ roles }) => roles.includes(role)).map(({ to, label }) => <NavLink key={to} to={to} className={({ isActive }) => (isActive ? 'chip on' : 'chip')}>{label}</NavLink>)}
      </nav>
      {children}
    </>
  );
}
