import { Link } from '@remix-run/react';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import type { FateFilter, RedeployPage } from '../../server/console/redeploy.js';
import type { LeaseFate } from '../../server/console/redeploy-leases.js';
import { Age } from './age';
import { ShortId } from './names';
import { Shape } from './ui/shape';
import { duration } from '~/format/age';
import { capitalised } from '~/format/count';
import { fateLooks, fateState, redeployPath } from '~/format/redeploy-words';

/** Lease by lease: how it ended, who took the row next and how soon, and where the row stands. */
export function RedeployFates({ view, filter }: { view: RedeployPage; filter: FateFilter }) {
  const { tally, redeploy, processes } = view;
  const counts: Record<NonNullable<FateFilter['outcome']>, number> = { held: tally.held, finished: tally.finished, given_back: tally.givenBack, expired: tally.expired, lost: tally.lost };
  const labels = new Map(processes.map(({ id, label }) => [id, label]));
  return (
    <>
      <div className="chips mb-3" role="group" aria-label="Filter leases">
        {(Object.keys(counts) as (keyof typeof counts)[]).map((outcome) => {
          const on = filter.outcome === outcome;
          return (
            <Link key={outcome} className={clsx('chip', on && 'on', `tone-${fateLooks[outcome].tone}`)} aria-current={on ? 'true' : undefined} discover="none" preventScrollReset to={redeployPath(redeploy.id, { outcome: on ? null : outcome })}>
              <Shape name={fateLooks[outcome].shape} />{fateLooks[outcome].word}<span className="chip-count">{counts[outcome]}</span>
            </Link>
          );
        })}
      </div>
      {view.fates.length === 0 ? <div className="card"><p className="dim px-4 py-3">{filter.outcome === null ? 'The old version held nothing when it began to leave.' : 'No lease went this way.'}</p></div> : (
        <div className="card table-wrap">
          <table className="table stack" aria-label="Leases">
            <thead><tr><th scope="col">Outcome</th><th scope="col">Row</th><th scope="col">Held by</th><th scope="col" className="r">Ended</th><th scope="col" className="r">Taken again after</th><th scope="col">By</th><th scope="col">Row now</th></tr></thead>
            <tbody>{view.fates.map((fate) => <Fate key={`${fate.id}${fate.rowId}`} fate={fate} heldBy={labels.get(fate.workerId) ?? fate.workerId} />)}</tbody>
          </table>
        </div>
      )}
      {view.next !== null || filter.before !== null ? (
        <nav className="pager" aria-label="Pages of leases">
          {filter.before !== null ? <Link className="btn" preventScrollReset to={redeployPath(redeploy.id, { outcome: filter.outcome })}>First</Link> : null}
          {view.next !== null ? <Link className="btn" rel="next" preventScrollReset to={redeployPath(redeploy.id, { outcome: filter.outcome, before: view.next })}>Older<ChevronRight aria-hidden /></Link> : null}
        </nav>
      ) : null}
    </>
  );
}

function Fate({ fate, heldBy }: { fate: LeaseFate; heldBy: string }) {
  const look = fateLooks[fate.lost ? 'lost' : fate.outcome];
  const again = fate.outcome === 'given_back' || fate.outcome === 'expired';
  return (
    <tr className={fate.lost ? 'bad' : undefined} data-fate={fate.outcome}>
      <td className="mark"><span className={`state tone-${look.tone}`} title={fate.cause ?? undefined}><Shape name={look.shape} />{look.word}</span></td>
      <td className="first"><Link className="row-link" discover="none" to={`/queues/${fate.slug}/${fate.rowId}`}>{capitalised(fate.noun)} <ShortId id={fate.rowId} /></Link></td>
      <td data-label="held by"><bdi className="mono soft">{heldBy}</bdi></td>
      <td className="r" data-label="ended">{fate.endedAt === null ? <span className="dim">–</span> : <Age at={fate.endedAt} suffix=" ago" />}</td>
      <td className="r" data-label="taken again">{fate.pickedUpMs !== null ? duration(fate.pickedUpMs) : <span className="dim">{again ? 'not yet' : '–'}</span>}</td>
      <td>{fate.pickedUpBy === null ? <span className="dim">–</span> : <span className="mono"><bdi>{fate.pickedUpBy}</bdi> <b>{fate.pickedUpVersion}</b></span>}</td>
      <td className={fate.lost ? 'tone-text-stale' : 'soft'}>{fateState(fate)}</td>
    </tr>
  );
}
