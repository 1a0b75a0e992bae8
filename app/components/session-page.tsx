import { Link } from '@remix-run/react';
import type { SessionPage as Page } from '../../server/console/session.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { Worker } from './holder';
import { OutsideId } from './names';
import { Fact } from './report-facts';
import { SessionDocuments } from './session-documents';
import { SessionJobs } from './session-jobs';
import { SessionRebuild } from './session-rebuild';
import { CopyButton } from './ui/copy-button';
import { counted } from '~/format/count';
import { noFilters, queuePath } from '~/format/filters';
import { reportPath, reportsPath } from '~/format/report-words';
import { cacheWords, sessionOutlook } from '~/format/session-words';

/** A user's set of sources: what is linked, what is persisted, what a loss of memory would cost (nothing). */
export function SessionPage({ page }: { page: Page }) {
  const { lost, rebuild } = sessionOutlook(page);
  const own = { session: page.sessionId, user: page.userId };
  return (
    <>
      <p className="crumb"><Link className="link" to="/sessions">Sessions</Link><span className="dim"> / Session</span></p>
      <div className="row-head"><h1 className="min-w-0"><OutsideId id={page.sessionId} width="100%" /></h1></div>
      <p className="row-id"><span className="dim">user</span> <Link className="link" to={`/sessions?q=${encodeURIComponent(page.userId)}`}><OutsideId id={page.userId} width="40ch" /></Link><CopyButton text={page.sessionId} label="Copy id" className="quiet" />
        <span className="row-buttons">
          <ActionButton order={{ action: 'reset_sources', fields: { userId: page.userId, sessionId: page.sessionId }, subject: page.sessionId }} why={page.sources.length === 0 ? 'Nothing is linked.' : null} />
          <ActionButton order={{ action: 'erase_user', fields: { userId: page.userId }, subject: page.userId }} />
        </span>
      </p>
      <dl className="card facts session-facts">
        <Fact name="If every process stopped now, lost would be"><Outlook {...lost} /></Fact>
        <Fact name="Could the search index be built again?"><Outlook {...rebuild} /><SessionRebuild sessionId={page.sessionId} userId={page.userId} /></Fact>
        <Fact name="Its index is kept in memory"><Cache page={page} /></Fact>
        <Fact name="Linked">{page.moreSources ? 'more than ' : ''}{counted(page.sources.length, 'document')}{page.staged.unlinked > 0 ? <p className="soft">{counted(page.staged.unlinked, 'parsed document')} of its uploads {page.staged.unlinked === 1 ? 'is' : 'are'} not linked: unlinked by the user, or until the upload's end repairs the link.</p> : null}</Fact>
      </dl>
      <SessionDocuments sources={page.sources} more={page.moreSources} />
      <SessionJobs title="Uploads" slug="parse-jobs" jobs={page.uploads} own={own} path={(id) => `/queues/parse-jobs/${id}`} all={queuePath('parse-jobs', own)} none="No upload has come in this session: its documents were linked by the product backend." />
      <SessionJobs title="Analyses" slug="analysis-jobs" jobs={page.analyses} own={own} path={(id) => reportPath(id)} all={reportsPath({ ...noFilters, ...own })} none="Nobody has asked for a report in this session yet." />
    </>
  );
}

function Cache({ page }: { page: Page }) {
  const { text, detail } = cacheWords(page);
  return (
    <>
      {text}
      {page.keepers.length > 0 ? <ul className="plain" data-keepers>{page.keepers.map(({ id, label, version, at }) => <li key={id}><Worker label={label} version={version} id={id} held /> <span className="soft">checked a citation of it <Age at={at} suffix=" ago" /></span></li>)}</ul> : null}
      <p className="soft">{detail}</p>
    </>
  );
}

function Outlook({ bad, text, detail }: { bad: boolean; text: string; detail: string }) {
  return <><b className={bad ? 'tone-text-stale' : undefined} data-outlook={bad ? 'bad' : 'good'}>{text}</b><p className="soft">{detail}</p></>;
}
