import { useLocation, useNavigation } from '@remix-run/react';
import { Menu, UserRound } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { lazy, useEffect, useState } from 'react';
import type { NowView } from '../../server/console/now.js';
import { Banner } from './ui/banner';
import { FeedIndicator } from './feed-indicator';
import { FindLauncher } from './find-launcher';
import { Keyboard } from './keyboard';
import { Age } from './age';
import { Mark, Rail } from './rail';
import { Later } from './ui/later';
import { attentionOf } from '~/format/attention';
import { placesOf } from '~/format/find-words';
import { useFeed, useLiveView, useNow } from '~/live/use-live';
import { useRights } from '~/rights';
import type { Theme } from '~/theme';

const OperatorMenu = lazy(() => import('./operator-menu'));

interface Props {
  now: NowView;
  operator: { name: string; role: string };
  place: string;
  version: string;
  theme: Theme;
  children: ReactNode;
}

/** The frame of every page: rail, top bar, and the truth about how fresh the page is. */
export function Shell({ now: loaded, operator, place, version, theme, children }: Props) {
  const view = useLiveView<NowView>('summary', loaded);
  const now = useNow();
  const feed = useFeed();
  const { readOnly } = useRights();
  const attention = attentionOf(view, now, feed).length;
  const busy = useNavigation().state !== 'idle';
  return (
    <div className="shell">
      <a className="skip" href="#content">Skip to the page</a>
      <Rail view={view} attention={attention} version={version} />
      <div className="min-w-0">
        <header className="topbar">
          {busy ? <span className="busy" role="progressbar" aria-label="Loading" /> : null}
          <Drawer><Rail view={view} attention={attention} version={version} /></Drawer>
          <FindLauncher operator={operator.name} places={placesOf(view.queues)} />
          <div className="topbar-end">
            <FeedIndicator />
            <span className="env clip" title={`Running at ${place}`}>{place}</span>
            <Later meanwhile={<span className="btn quiet icon" aria-hidden="true"><UserRound /></span>}><OperatorMenu name={operator.name} role={operator.role} theme={theme} /></Later>
          </div>
        </header>
        <main className="page" id="content" tabIndex={-1}>
          {readOnly ? <Banner>This console is read-only (READ_ONLY): every action is refused, and buttons say so. Work, sweeps and the product API go on as always; the command line still acts.</Banner> : null}
          {feed.stale ? <Banner>Nothing could be read for a while: what you see may no longer be so<span aria-hidden>, it is from <Age at={feed.asOf} suffix=" ago" /></span>. Work goes on without this page; it catches up by itself.</Banner> : null}
          {children}
        </main>
      </div>
      <Keyboard />
    </div>
  );
}

function Drawer({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setOpen(false), [pathname]);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger className="btn quiet menu-button" aria-label="Menu"><Menu aria-hidden /><Mark /></Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className="drawer" aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Menu</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
