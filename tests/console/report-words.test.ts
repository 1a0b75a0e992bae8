import { describe, expect, test } from 'vitest';
import { nextStep } from '~/format/next-step';
import { sessionOutlook } from '~/format/session-words';
import type { RowPage } from '../../server/console/row-page.js';
import type { RowView } from '../../server/console/row-view.js';
import type { SourceView } from '../../server/console/session-documents.js';
import type { SessionPage } from '../../server/console/session.js';

const now = 1_000_000;

function rowOf(row: Partial<RowView>): RowView {
  return { table: 'analysis_jobs', id: 'a', version: 1, state: 'queued', attempt: 0, maxAttempts: 3, runAfter: 0, leaseExpiresAt: null, worker: null, errorCode: null, finishedAt: null, columns: {}, ...row } as RowView;
}

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
      rebuild: { bad: false, text: 'Yes, by the counts', detail: 'From 12 chunks, 12 thousand characters.' },
    });
    expect(outlook([])).toMatchObject({ lost: { bad: false, text: 'Nothing' }, rebuild: { bad: false, text: 'Nothing to index' } });
  });

  test('is said as soon as a document has fewer chunks than were made of it, or none', () => {
    expect(outlook([source(4, 5), source(0, null), source(3, 3)])).toMatchObject({ lost: { bad: true, text: '2 documents lack chunks' }, rebuild: { bad: true, text: 'Not in full' } });
  });
});
