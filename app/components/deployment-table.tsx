import { Link } from '@remix-run/react';
import clsx from 'clsx';
import { lazy, memo } from 'react';
import type { DeploymentFacts, DeploymentsPage, ReleaseView } from '../../server/console/deployments.js';
import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { DeploymentState, LockHolder, LockMeter, reclaimableAt } from './deployment-lock';
import { OutsideName } from './names';
import { Later } from './ui/later';
import { count } from '~/format/count';
import { useNow } from '~/live/use-live';

const RowMenu = lazy(() => import('./action-row-menu'));

interface Menus<Key> {
  /** Whose menu of actions is open. */
  menu: Key;
  onMenu: (menu: string | null) => void;
}

/** One row an app. */
export function DeploymentTable({ page, rows, menu, onMenu }: { page: DeploymentsPage; rows: RowView[] } & Menus<string | null>) {
  return (
    <div className="card table-wrap">
      <table className="table stack" aria-label="Deployments">
        <thead>
          <tr>
            <th scope="col">State</th><th scope="col">App</th><th scope="col">Live release</th><th scope="col">Publish lock</th><th scope="col">Driven by</th>
            <th scope="col" className="r">Since</th><th scope="col" className="r">Last beat</th><th scope="col" className="r">Refused</th><th scope="col"><span className="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>{rows.map((row) => <AppRow key={row.id} row={row} facts={page.facts[row.id]} deadAfterMs={page.deadAfterMs} menu={menu === row.id} onMenu={onMenu} />)}</tbody>
      </table>
    </div>
  );
}

const AppRow = memo(function AppRow({ row, facts, deadAfterMs, menu, onMenu }: { row: RowView; facts: DeploymentFacts | undefined; deadAfterMs: number } & Menus<boolean>) {
  const now = useNow();
  const end = reclaimableAt(row, deadAfterMs);
  const building = row.state === 'building';
  return (
    <tr className={clsx(end !== null && end < now && 'bad')} data-row-id={row.id} data-version={row.version}>
      <td className="mark"><DeploymentState row={row} deadAfterMs={deadAfterMs} /></td>
      <td className="first"><Link className="row-link" discover="none" to={`/deployments/${row.id}`}><OutsideName name={String(row.columns.slug)} /></Link> <span className="dim">#{row.columns.publish_no}</span></td>
      <td data-label="live">{facts?.release ? <><ReleaseName release={facts.release} /> <span className="dim">#{facts.release.publishNo}</span></> : <span className="dim">nothing yet</span>}</td>
      <td className={building ? undefined : 'hide-narrow'}><LockMeter row={row} deadAfterMs={deadAfterMs} /></td>
      <td className={building ? undefined : 'hide-narrow'}><LockHolder row={row} /></td>
      <td className="r" data-label="since">{facts ? <Age at={facts.publishedAt} /> : null}</td>
      <td className={`r ${row.heartbeatAt === null ? 'hide-narrow' : ''}`} data-label="beat">{row.heartbeatAt === null ? <span className="dim">–</span> : <Age at={row.heartbeatAt} />}</td>
      <td className={`r ${facts?.refused ? '' : 'hide-narrow'}`} data-label="refused">{facts?.refused ? count(facts.refused) : <span className="zero">0</span>}</td>
      <td className="row-menu-cell"><Later><RowMenu row={row} slug="deployments" noun="deployment" open={menu} onOpen={(open) => onMenu(open ? row.id : null)} /></Later></td>
    </tr>
  );
});

/** What serves now, with the publish that brought it. */
export function Release({ release }: { release: ReleaseView | null }) {
  if (!release) return <span className="dim">nothing yet</span>;
  return <span className="soft"><ReleaseName release={release} /> <span className="dim">#{release.publishNo} · <Age at={release.at} suffix=" ago" /></span></span>;
}

/** Only web addresses become links: the text comes from the hosting. */
export function ReleaseName({ release: { url, releaseId } }: { release: ReleaseView }) {
  if (url === null || !/^https?:\/\//i.test(url)) return <bdi className="mono">{releaseId ?? 'released'}</bdi>;
  return <a className="link" href={url} target="_blank" rel="noreferrer" title={url}><bdi className="clip inline-block align-bottom max-w-[26ch]">{url.replace(/^https?:\/\//i, '')}</bdi></a>;
}
