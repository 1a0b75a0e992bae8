import { describe, expect, test } from 'vitest';
import { journeyOf } from '~/format/journey';
import { nextStep } from '~/format/next-step';
import { sessionOutlook } from '~/format/session-words';
import type { ReportPage } from '../../server/console/report.js';
import type { RowPage } from '../../server/console/row-page.js';
import type { RowView } from '../../server/console/row-view.js';
import type { SourceView } from '../../server/console/session-documents.js';
import type { SessionPage } from '../../server/console/session.js';

const now = 1_000_000;

function rowOf(row: Partial<RowView>): RowView {
  return { table: 'analysis_jobs', id: 'a', version: 1, state: 'queued', attempt: 0, maxAttempts: 3, runAfter: 0, leaseExpiresAt: null, worker: null, errorCode: null, finishedAt: null, columns: {}, ...row } as RowView;
}

function pageOf(page: Partial<ReportPage>): ReportPage {
  return { files: { total: 3, succeeded: 3, unread: 0, firstAt: 1, parsedAt: 2 }, reading: null, readAt: null, lastCheckAt: null, holders: [], verdicts: { not_checked: 0 }, ...page } as ReportPage;
}

const told = (page: Partial<ReportPage>, row: Partial<RowView>) => journeyOf(pageOf(page), rowOf(row)).map(({ status, figure, note }) => [status, figure, note].filter(Boolean).join(': '));
const reading = { claimsTotal: 84, marksSeen: 90, marksResolved: 86, unresolved: {} };

describe('the journey of a report', () => {
  test('waits for its files before a claim is read', () => {
    const files = { total: 3, succeeded: 1, unread: 1, firstAt: 1, parsedAt: null };
    expect(told({ files }, {})).toEqual(['done: 3 files', 'now: 1 of 3 files: 1 still open, 1 could not be read', 'ahead: not yet: waits until every file is parsed', 'ahead: not yet', 'ahead: not yet']);
  });

  test('names who reads the thesis, and who checks its citations', () => {
    expect(told({}, { state: 'running', worker: { id: 'w', label: 'worker-a', version: 'v43' } })[2]).toBe('now: being read: by worker-a (v43)');
    const checking = told({ reading, holders: [{ id: 'w', label: 'worker-a', version: 'v43', n: 8 }] }, { state: 'awaiting', columns: { total_children: 84, open_children: 33 } });
    expect(checking.slice(2)).toEqual(['done: 84 claims: 86 of 90 citation marks resolved', 'now: 51 of 84: 8 held by worker-a (v43)', 'ahead: not yet']);
  });

  test('ends with the report, and says what could not be checked', () => {
    const verdicts = { supported: 82, partly_supported: 0, not_supported: 0, source_missing: 0, not_checked: 2, open: 0 };
    expect(told({ reading, verdicts }, { state: 'succeeded', finishedAt: 9, columns: { total_children: 84, open_children: 0 } }).slice(3)).toEqual(['done: 84 of 84: 2 could not be checked', 'done: ready']);
    expect(told({ reading: { ...reading, claimsTotal: 0 } }, { state: 'succeeded', columns: { total_children: 0, open_children: 0 } })[3]).toBe('done: none to check');
  });

  test('stops where it failed', () => {
    expect(told({}, { state: 'failed', errorCode: 'thesis_erased' }).slice(2)).toEqual(['failed: failed: thesis_erased', 'ahead: not yet', 'failed: failed: thesis_erased']);
    expect(told({ reading }, { state: 'cancelled', columns: { total_children: 84, open_children: 4 } })[3]).toBe('failed: 80 of 84: cancelled');
  });
});

test('what happens next to an analysis and its citations is told in their own words', () => {
  const next = (row: Partial<RowView>) => nextStep({ row: rowOf(row), queue: { table: row.table ?? 'analysis_jobs' }, sweep: { lastRunAt: null, intervalSeconds: 30 }, capability: 'citations', capableWorkers: 1, knowingWorkers: 1, pausedReason: null, breakerUntil: null } as unknown as RowPage, now).text;
  expect(next({ state: 'awaiting', columns: { open_children: 1 } })).toBe('The report is ready when the last of its 1 open citation has ended.');
  expect(next({ runAfter: now + 1 })).toMatch(/last open upload wakes it/);
  expect(next({ runAfter: now + 1, errorCode: 'reader_crashed' })).toMatch(/backoff/);
  expect(next({ table: 'job_citations', state: 'failed' })).toMatch(/not checked/);
});

describe('what a stop of every process would take from a session', () => {
  const source = (chunks: number, made: number | null) => ({ chunks, made, chars: chunks * 1000 }) as SourceView;
  const outlook = (sources: SourceView[], open = 0) => sessionOutlook({ sources, moreSources: false, staged: { open, unlinked: 0 } } as unknown as SessionPage);

  test('reads nothing while every chunk is in Postgres, and files on their way have their bytes there', () => {
    expect(outlook([source(5, 5), source(7, null)], 2)).toEqual({
      lost: { bad: false, text: 'Nothing', detail: 'Every chunk of 2 documents is in Postgres. 2 files not parsed yet: the bytes wait in Postgres.' },
      rebuild: { bad: false, text: 'Yes, now', detail: 'From 12 chunks, 12 thousand characters.' },
    });
    expect(outlook([])).toMatchObject({ lost: { bad: false, text: 'Nothing' }, rebuild: { bad: false, text: 'Nothing to index' } });
  });

  test('is said as soon as a document has fewer chunks than were made of it, or none', () => {
    expect(outlook([source(4, 5), source(0, null), source(3, 3)])).toMatchObject({ lost: { bad: true, text: '2 documents lack chunks' }, rebuild: { bad: true, text: 'Not in full' } });
  });
});
