import type { ReactNode } from 'react';
import type { RowPage } from '../../server/console/row-page.js';
import { Age, Instant } from './age';
import { Worker } from './holder';
import { LeaseMeter } from './lease-meter';
import { OutsideId } from './names';
import { age } from '~/format/age';
import { bytes } from '~/format/bytes';
import { counted } from '~/format/count';
import { nextStep } from '~/format/next-step';

/** The evidence: lease, last beat, holder, token, tries, and what happens next. */
export function LeaseCard({ page, now }: { page: RowPage; now: number }) {
  const { row } = page;
  const next = nextStep(page, now);
  return (
    <aside className="card lease-card" aria-label="Lease">
      <dl>
        <Fact name="Lease"><LeaseMeter row={row} wide /></Fact>
        {row.leaseExpiresAt !== null ? <Fact name={row.leaseExpiresAt < now ? 'Ended' : 'Ends'}><Instant at={row.leaseExpiresAt} /></Fact> : null}
        {row.heartbeatAt !== null ? <Fact name="Last beat"><Age at={row.heartbeatAt} suffix=" ago" /></Fact> : null}
        {row.claimedAt !== null ? <Fact name="Taken"><Age at={row.claimedAt} suffix=" ago" /></Fact> : null}
        <Fact name={row.worker ? 'Holder' : 'Last holder'}>
          {row.worker ?? row.lastWorker ? <Worker {...(row.worker ?? row.lastWorker)!} held={row.worker !== null} /> : <span className="dim">nobody yet</span>}
        </Fact>
        <Fact name="Token"><span className="mono">#{row.leaseToken}</span></Fact>
        <Fact name="Failures">{row.attempt} of {row.maxAttempts}{row.lostLeases > 0 ? `, and ${counted(row.lostLeases, 'lease')} lost to dying workers` : ''}</Fact>
        {row.done !== null && row.total !== null && row.state !== 'succeeded' ? <Fact name="Progress">{row.done} of {row.total}{row.progressedAt !== null ? <span className="dim"> · <Age at={row.progressedAt} suffix=" ago" /></span> : null}</Fact> : null}
        <Columns page={page} />
      </dl>
      <div className="next-step">
        <b>Next</b>
        <p>{next.text}</p>
        {next.at !== null ? <p className="dim" suppressHydrationWarning>{next.label} {next.at > now ? `in ${age(next.at - now)}` : 'due now'} · <Instant at={next.at} /></p> : null}
      </div>
    </aside>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}

const names: Record<string, string> = {
  user_id: 'User', session_id: 'Session', byte_size: 'Size', page_count: 'Pages', chunk_count: 'Chunks', quality: 'Quality',
  open_children: 'Open files', total_children: 'Files', succeeded_children: 'Read files',
  marks_seen: 'Marks', marks_resolved: 'Resolved', page: 'Page', judge: 'Judge',
};

/** What its parts are called where they are no files. */
const citationNames: Record<string, string> = { open_children: 'Open checks', total_children: 'Citations', succeeded_children: 'Checked' };

/** The queue's own columns, under names for people; the file name and the parent are shown elsewhere. */
function Columns({ page }: { page: RowPage }) {
  const shown = page.queue.listColumns.filter((column) => Object.hasOwn(names, column) && page.row.columns[column] !== null);
  return shown.map((column) => {
    const value = page.row.columns[column]!;
    const text = column === 'byte_size' ? bytes(Number(value)) : String(value);
    return <Fact key={column} name={(page.queue.table === 'analysis_jobs' && citationNames[column]) || names[column]!}>{column.endsWith('_id') ? <OutsideId id={text} width="24ch" /> : <bdi>{text}</bdi>}</Fact>;
  });
}
