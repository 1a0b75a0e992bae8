import { expect, test } from 'vitest';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { withTyped } from '~/format/filter-text.js';
import { queuePath } from '~/format/filters.js';
import { leftOut, withLeftOut } from '~/format/left-out.js';

test.each([
  ['state=running,stale&user=u-1', '?state=running,stale&user=u-1', []],
  ['older=300', '?older=5m', []],
  ['user=&state=&older=', '', []],
  ['state=runing', '', [['state', 'runing']]],
  ['state=running,nonsense,,queued', '?state=running,queued', [['state', 'nonsense']]],
  ['sate=failed&error=internal', '?error=internal', [['sate', 'failed']]],
  ['older=soon&newer=5m', '?newer=5m', [['older', 'soon']]],
  ['before=1;drop', '', [['before', '1;drop']]],
])('of ?%s, understood as "%s", it says what had no effect', (asked, understood, expected) => {
  expect(leftOut(new URLSearchParams(asked), understood)).toEqual(expected);
});

test.each([
  ['older:soon', '/queues/parse-items?older=soon'],
  ['user:u-1 older:soon', '/queues/parse-items?user=u-1&older=soon'],
  ['state:runing', '/queues/parse-items?state=runing'],
  ['older:5m', '/queues/parse-items?older=5m'],
])('what is typed in vain stays in the address: %s', (typed, address) => {
  const asked = withTyped(new URLSearchParams(), typed);
  expect(withLeftOut(queuePath('parse-items', parseQueueFilters(asked)), asked)).toBe(address);
});
