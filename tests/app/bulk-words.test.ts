import { expect, test } from 'vitest';
import { bulkOutlook, bulkQuestion, bulkSummary } from '~/format/bulk-words';
import type { Rights } from '~/format/possible';
import type { RowView } from '../../server/console/row-view.js';
import type { BulkAnswer } from '../../server/operations/bulk.js';

const NOW = 1_800_000_000_000;
const rights: Rights = { role: 'operator', readOnly: false, permissions: {}, publishDeadAfterMs: 300_000 };
const answer = (outcome: BulkAnswer['outcome'], code: string | null = null): BulkAnswer => ({ index: 0, outcome, code, text: '', now: null });
const times = <T>(n: number, value: T): T[] => Array.from({ length: n }, () => value);

test('the sum of a bulk action names the reasons of what was refused, the most frequent first', () => {
  expect(bulkSummary('release', [...times(7, answer('applied')), ...times(2, answer('refused', 'lease_valid'))])).toBe('7 released, 2 refused: lease valid');
  expect(bulkSummary('cancel', [answer('applied'), answer('refused', 'not_found'), ...times(2, answer('refused', 'finished')), answer('failed', 'failed')], 3)).toBe('1 cancelled, 3 refused: 2 it had ended, 1 not found, 1 failed, 3 not tried');
  expect(bulkSummary('rekick', [], 4)).toBe('0 re-kicked, 4 not tried');
});

test('of the rows as they are now, those are left out whose guard does not hold, by why', () => {
  const row = (change: Partial<RowView>) => ({ table: 'parse_items', state: 'running', worker: { id: 'w', label: 'w', version: 'v' }, heartbeatAt: NOW - 1, leaseExpiresAt: NOW - 1, columns: {}, ...change }) as RowView;
  const rows = [row({}), row({ leaseExpiresAt: NOW + 5_000 }), row({ leaseExpiresAt: NOW + 90_000 }), row({ state: 'succeeded', worker: null }), row({ state: 'queued', worker: null }), row({})];
  const { possible, not } = bulkOutlook('release', rows, NOW, rights);
  expect(possible).toEqual([rows[0], rows[5]]);
  expect(not).toEqual([['lease valid', 2], ['it has ended', 1], ['nobody holds it', 1]]);
  expect(bulkOutlook('release', rows, NOW + 10_000, rights).possible).toHaveLength(3);   // one more has run out
});

test('the question counts what it is about', () => {
  expect(bulkQuestion('release', 1, 'parse item')).toBe('Release the stale leases of 1 parse item?');
  expect(bulkQuestion('cancel', 12, 'analysis')).toBe('Cancel 12 analyses?');
});
