import { Link } from '@remix-run/react';
import type { DocumentView } from '../../server/console/row-links.js';
import type { RowPage } from '../../server/console/row-page.js';
import type { RowView } from '../../server/console/row-view.js';
import { LeaseMeter } from './lease-meter';
import { OutsideId, OutsideName } from './names';
import { Subject } from './row-cells';
import { StateMark } from './state-mark';
import { Section } from './ui/section';
import { capitalised, counted } from '~/format/count';
import { queuePath } from '~/format/filters';
import { reportPath } from '~/format/report-words';
import { sessionPath } from '~/format/session-words';
import { shownState } from '~/format/state';
import { useNow } from '~/live/use-live';

/** The row's neighbours: job, files, document, session. */
export function LinkedRows({ page }: { page: RowPage }) {
  const { parent, children, document, session } = page.links;
  const report = reportOf(page);
  return (
    <Section title="Belongs together">
      <ul className="card linked">
        {parent ? <LinkedRow name={capitalised(parent.noun)} slug={parent.slug} row={parent.row} /> : null}
        {report ? <li><span className="dim">Report</span><Link className="row-link" to={reportPath(report)}>Journey and verdicts</Link></li> : null}
        {document ? <DocumentLine document={document} /> : null}
        {session ? (
          <li>
            <span className="dim">Session</span>
            <span className="min-w-0"><Link className="row-link" to={sessionPath(session.id, session.userId)}><OutsideId id={session.id} width="26ch" /></Link> <span className="soft">· {counted(session.documents, 'document')} linked</span></span>
          </li>
        ) : null}
        {children?.rows.map((row) => <LinkedRow key={row.id} name={childNames[children.slug] ?? capitalised(page.queue.noun)} slug={children.slug} row={row} />)}
        {children?.more && session ? <li><span className="dim">More</span><Link className="link" to={queuePath(children.slug, { session: session.id })}>{children.title} of this session</Link></li> : null}
      </ul>
    </Section>
  );
}

const childNames: Record<string, string> = { 'parse-items': 'File', citations: 'Citation' };

/** The report that this row is, or is a part of. */
function reportOf({ row, links }: RowPage): string | null {
  const rows = [row, links.parent?.row].filter((each) => each?.table === 'analysis_jobs');
  return rows[0]?.id ?? null;
}

function LinkedRow({ name, slug, row }: { name: string; slug: string; row: RowView }) {
  const now = useNow();
  return (
    <li>
      <span className="dim">{name}</span>
      <Link className="row-link min-w-0" discover="none" to={`/queues/${slug}/${row.id}`}><Subject row={row} /></Link>
      <span className="linked-state">{row.leaseExpiresAt !== null ? <LeaseMeter row={row} /> : null}<StateMark state={shownState(row, now)} /></span>
    </li>
  );
}

/** A document by its counts: text is never shown here. */
function DocumentLine({ document }: { document: DocumentView }) {
  const missing = document.failedPages.length > 0 ? ` · ${counted(document.failedPages.length, 'page')} could not be read` : '';
  return (
    <li>
      <span className="dim">Document</span>
      <span className="min-w-0"><OutsideName name={document.filename} /> <span className="soft">· {counted(document.pages, 'page')}, {counted(document.chunks, 'chunk')} ({document.embedded} embedded) · text {document.quality}{missing}</span></span>
    </li>
  );
}
