import { Link } from '@remix-run/react';
import type { FilterState } from '../../server/console/queue-filters.js';
import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { Holder } from './holder';
import { LeaseMeter } from './lease-meter';
import { OutsideId, OutsideName, ShortId } from './names';
import { StateMark } from './state-mark';
import { counted } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import { queuePath } from '~/format/filters';
import { useWaitsForNewer } from '~/known-kinds';

/** The cells of one row in the order of the table's head. */
export function RowCells({ row, slug, state }: { row: RowView; slug: string; state: FilterState }) {
  const { user_id: user, session_id: session } = row.columns;
  const newer = useWaitsForNewer(row);
  return (
    <>
      <td className="mark"><StateMark state={state} /></td>
      <td className="first"><Link className="row-link" discover="none" to={`/queues/${slug}/${row.id}`}><Subject row={row} /></Link><Progress row={row} /></td>
      <td className={row.leaseExpiresAt === null ? 'hide-narrow' : undefined}><LeaseMeter row={row} /></td>
      <td className={`r ${row.heartbeatAt === null ? 'hide-narrow' : ''}`} data-label="beat">{row.heartbeatAt === null ? <span className="dim">–</span> : <Age at={row.heartbeatAt} />}</td>
      <td>{newer ? <span className="inline-block max-w-[15ch] whitespace-normal leading-tight"><NewerWorker row={row} /></span> : <Holder row={row} />}</td>
      <td className="r" data-label="try"><Tries row={row} /></td>
      <td data-label="user" className="hide-narrow">{typeof user === 'string' ? <Link discover="none" to={queuePath(slug, { user })} className="quiet-link"><OutsideId id={user} /></Link> : null}</td>
      {typeof session === 'string' ? <td data-label="session"><Link discover="none" to={queuePath(slug, { session })} className="quiet-link"><OutsideId id={session} /></Link></td> : null}
      <td className="r" data-label="age"><Age at={row.createdAt} /></td>
      <td className="clipped" title={errorTitle(row)}>{row.errorCode ? <bdi className="soft">{row.errorCode}</bdi> : null}</td>
    </>
  );
}

/** In place of a holder: no process that lives could be one. */
export function NewerWorker({ row }: { row: RowView }) {
  return <span className="tone-text-low" data-newer title={`No live worker knows kind “${row.kind}” at schema version ${row.schemaVersion}. Nothing is charged meanwhile.`}>waits for a newer worker</span>;
}

/** What the row is about: its file, its citation, or how many of its files or citations have ended. */
export function Subject({ row, title = false }: { row: RowView; title?: boolean }) {
  const { filename, slug, total_children: total, open_children: open, ordinal, page } = row.columns;
  const name = filename ?? slug;
  if (typeof name === 'string') return <OutsideName name={name} width={title ? '100%' : '22ch'} />;
  if (typeof ordinal === 'number') return <>Citation {ordinal + 1}<span className="dim"> page {page}</span></>;
  if (typeof total !== 'number') return <ShortId id={row.id} />;
  return <>{Number(total) - Number(open ?? 0)} of {counted(total, row.table === 'analysis_jobs' ? 'citation' : 'file')}{title ? null : <span className="dim"> <ShortId id={row.id} /></span>}</>;
}

function Progress({ row }: { row: RowView }) {
  if (row.state !== 'running' || row.done === null || row.total === null || row.total === 0) return null;
  return <span className="dim"> {row.done}/{row.total}</span>;
}

/** The try that runs now or ran last; leases lost to dying workers are told apart, for they are not the work's fault. */
function Tries({ row }: { row: RowView }) {
  const current = row.state === 'running' || row.state === 'succeeded' ? row.attempt + 1 : row.attempt;
  const title = `${counted(row.attempt, 'failed attempt')} of ${row.maxAttempts}${row.lostLeases > 0 ? `, ${counted(row.lostLeases, 'lease')} lost to dying workers` : ''}`;
  return <span title={title}>{Math.min(current, row.maxAttempts)}/{row.maxAttempts}{row.lostLeases > 0 ? <span className="soft"> +{row.lostLeases}</span> : null}</span>;
}

function errorTitle(row: RowView): string | undefined {
  if (!row.errorCode) return undefined;
  return [errorMeaning(row.errorCode), row.errorMessage].filter(Boolean).join('\n') || row.errorCode;
}
