import { Link, useRevalidator } from '@remix-run/react';
import clsx from 'clsx';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import type { CitationPage, CitationView, VerdictCounts } from '../../server/console/report-citations.js';
import type { CitationFilters, ShownVerdict } from '../../server/console/report-filters.js';
import type { ReportPage } from '../../server/console/report.js';
import { ActionButton } from './action-button';
import { Instant } from './age';
import { LeftOut } from './left-out';
import { OutsideName } from './names';
import { VerdictBar, VerdictMark, verdicts } from './report-verdict';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { count, counted } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import { citationQuery, reasonWords, reportPath, verdictLooks } from '~/format/report-words';
import { useCursor } from '~/cursor';
import { useNow } from '~/live/use-live';

/** The verdicts: shares and counts, then each citation in the order of the thesis. */
export function ReportCitations({ page, filters }: { page: ReportPage; filters: CitationFilters }) {
  const { rows } = page.citations;
  const cursor = useCursor(rows, (id) => `/queues/citations/${id}`);
  const withText = useRevealed(page.revealedUntil);
  const total = Object.values(page.verdicts).reduce((sum, n) => sum + n, 0);
  return (
    <Section title="Citations" aside={page.judge ? <>judged by <bdi className="mono">{page.judge}</bdi></> : counted(total, 'citation')}>
      <VerdictBar counts={page.verdicts} />
      <VerdictChips id={page.row.id} counts={page.verdicts} filters={filters} />
      <LeftOut understood={citationQuery(filters)} />
      <TextNote page={page} />
      {rows.length > 0 ? <Table rows={rows} withText={withText} cursor={cursor} /> : <Nothing page={page} filters={filters} />}
      <Pages id={page.row.id} filters={filters} page={page.citations} />
    </Section>
  );
}

/** Whether the text may still be shown; when its time is over it is hidden at once, and the page reads itself again without it. */
function useRevealed(until: number | null): boolean {
  const over = useNow() >= (until ?? Infinity);
  const { revalidate } = useRevalidator();
  useEffect(() => {
    if (over) revalidate();
  }, [over, revalidate]);
  return until !== null && !over;
}

/** Masked for everyone until they say why they need it; then for them alone, for a while. */
function TextNote({ page }: { page: ReportPage }) {
  if (page.revealedUntil !== null) return <p className="masked-note" role="status">You see the text of this report until <Instant at={page.revealedUntil} />; that is in the audit.</p>;
  if (page.mayReveal) {
    return (
      <div className="masked-note" role="status">
        <Shape name="dash" /><span>Text is masked: claims, marks, references, quotes and the judge's reasons. Revealing it is recorded, with your reason.</span>
        <ActionButton order={{ action: 'reveal', fields: { report: page.row.id }, subject: `…${page.row.id.slice(-8)}` }} />
      </div>
    );
  }
  return <p className="masked-note"><Shape name="dash" />Text is masked for your role: claims, marks, references, quotes and the judge's reasons are not sent to viewers. Verdicts, places and file names are. Operators and admins can reveal it.</p>;
}

function VerdictChips({ id, counts, filters }: { id: string; counts: VerdictCounts; filters: CitationFilters }) {
  const to = (verdict: ShownVerdict) => reportPath(id, { verdict: filters.verdict === verdict ? null : verdict, after: null, before: null });
  return (
    <div className="chips report-chips" role="search" aria-label="Filter by verdict">
      {verdicts.map((verdict) => (
        <Link key={verdict} className={clsx('chip', `tone-${verdictLooks[verdict].tone}`, filters.verdict === verdict && 'on')} aria-current={filters.verdict === verdict ? 'true' : undefined}
          to={to(verdict)} discover="none" preventScrollReset data-verdict-chip={verdict}>
          <Shape name={verdictLooks[verdict].shape} />{verdictLooks[verdict].word}<span className="chip-count">{count(counts[verdict])}</span>
        </Link>
      ))}
    </div>
  );
}

function Table({ rows, withText, cursor }: { rows: CitationView[]; withText: boolean; cursor: string | null }) {
  return (
    <div className="card table-wrap">
      <table className="table stack report-table" aria-label="Citations">
        <thead>
          <tr><th scope="col" className="r">#</th><th scope="col">Verdict</th><th scope="col">Claim and mark</th><th scope="col">Cited work</th><th scope="col">Evidence</th></tr>
        </thead>
        <tbody>{rows.map((row) => <Citation key={row.id} row={row} withText={withText} cursor={cursor === row.id} />)}</tbody>
      </table>
    </div>
  );
}

function Citation({ row, withText, cursor }: { row: CitationView; withText: boolean; cursor: boolean }) {
  return (
    <tr data-row-id={row.id} data-cursor={cursor} data-ordinal={row.ordinal}>
      <td className="r"><Link className="row-link" discover="none" to={`/queues/citations/${row.id}`} aria-label={`Citation ${row.ordinal + 1}`}>{row.ordinal + 1}</Link></td>
      <td className="mark">
        <VerdictMark verdict={row.verdict} />
        {row.confidence !== null && row.verdict !== 'source_missing' ? <p className="dim">{Math.round(row.confidence * 100)} % sure</p> : null}
        {row.verdict === 'not_checked' && row.errorCode ? <p className="soft" title={errorMeaning(row.errorCode) ?? undefined}><bdi>{row.errorCode}</bdi></p> : null}
        {row.downgraded ? <p className="soft">lowered: {reasonWords(row.downgraded)}</p> : null}
      </td>
      <td className="first report-text">
        <Text shown={withText}>{row.claim}</Text>
        <p className="dim">{withText && row.mark ? <><bdi className="soft">{row.mark}</bdi> · </> : null}page {row.page}, <Span from={row.charFrom} to={row.charTo} /></p>
      </td>
      <td className="report-text" data-label="cites">
        {row.document ? <OutsideName name={row.document.filename} width="24ch" /> : row.reason ? <p className="soft">{reasonWords(row.reason)}</p> : <span className="dim">no document</span>}
        {withText && row.entry ? <p className="soft" dir="auto">{row.entry}</p> : null}
      </td>
      <td className="report-text"><Evidence row={row} withText={withText} /></td>
    </tr>
  );
}

function Evidence({ row, withText }: { row: CitationView; withText: boolean }) {
  return (
    <>
      {row.evidence.map((each) => (
        <div key={`${each.documentId}${each.charFrom}`} className="evidence">
          {withText && each.quote ? <blockquote dir="auto">{each.quote}</blockquote> : null}
          <p className="dim">{each.document ? <OutsideName name={each.document} width="22ch" /> : 'an erased document'}, page {each.page}, <Span from={each.charFrom} to={each.charTo} /></p>
        </div>
      ))}
      {withText && row.rationale ? <p className="soft" dir="auto">{row.rationale}</p> : null}
      {row.evidence.length === 0 && !row.rationale ? <span className="dim">–</span> : null}
    </>
  );
}

/** Offsets in the document's text. */
function Span({ from, to }: { from: number; to: number }) {
  return <span className="mono" title="Offsets in the document's text, in UTF-16 code units">{from}–{to}</span>;
}

function Text({ shown, children }: { shown: boolean; children: ReactNode }) {
  return shown ? <p dir="auto">{children}</p> : <span className="masked" title="Text is masked until it is revealed">masked</span>;
}

function Nothing({ page, filters }: { page: ReportPage; filters: CitationFilters }) {
  if (filters.verdict !== null || filters.after !== null) {
    return <div className="card empty"><h2>Nothing matches</h2><p className="soft">No citation of this report has this verdict now.</p><Link className="btn" to={reportPath(page.row.id)}>Show all</Link></div>;
  }
  const over = page.row.finishedAt !== null;
  const text = page.reading ? 'The thesis was read and no citation was found in it: there is nothing to check.'
    : over ? 'It ended before the claims of the thesis were read: nothing was checked.'
    : 'The claims of the thesis have not been read yet. Each will appear here with the work it cites, and its verdict as it is checked.';
  return <div className="card empty"><h2>{over ? 'No citation' : 'No citation yet'}</h2><p className="soft">{text}</p></div>;
}

function Pages({ id, filters, page }: { id: string; filters: CitationFilters; page: CitationPage }) {
  if (page.next === null && page.previous === null) return null;
  const to = (change: Partial<CitationFilters>) => reportPath(id, { verdict: filters.verdict, after: null, before: null, ...change });
  return (
    <nav className="pager" aria-label="Pages">
      {page.previous !== null ? <><Link className="btn" to={to({})}>First</Link><Link className="btn" rel="prev" to={to({ before: page.previous })}><ChevronLeft aria-hidden />Before</Link></> : null}
      {page.next !== null ? <Link className="btn" rel="next" to={to({ after: page.next })}>Next<ChevronRight aria-hidden /></Link> : null}
    </nav>
  );
}
