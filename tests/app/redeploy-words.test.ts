import { expect, test } from 'vitest';
import { redeployPath, redeploysPath, tallyWords } from '~/format/redeploy-words';
import { parseFateFilter } from '../../server/console/redeploy.js';
import type { Tally } from '../../server/console/redeploy-leases.js';
import { parseRedeployFilters } from '../../server/console/redeploys.js';

const nobody = { rows: 0, p50: null, p95: null, longest: null };
const tally = (change: Partial<Tally>): Tally => ({
  inFlight: 0, finished: 0, givenBack: 0, expired: 0, held: 0, waiting: 0, lost: 0, lateWrites: 0, afterGiveBack: nobody, afterExpiry: nobody, ...change,
});

test.each([
  [tally({}), 'No lease was in flight when the old version began to leave. Nothing was lost.'],
  [tally({ inFlight: 14, finished: 9, givenBack: 2, expired: 3, afterGiveBack: { rows: 2, p50: 300, p95: 400, longest: 400 }, afterExpiry: { rows: 1, p50: 9_000, p95: 9_000, longest: 9_000 } }),
    '14 leases were in flight at the switch: 9 finished in the drain, 2 given back (taken again after 300 ms, at most 400 ms) and 3 expired with their worker (taken again after 9.0 s). Nothing was lost.'],
  [tally({ inFlight: 3, givenBack: 1, held: 2, waiting: 1 }), '3 leases were in flight at the switch: 1 given back and 2 still held. 1 row waits to be taken again. Nothing lost so far.'],
  [tally({ inFlight: 1, expired: 1, lost: 1 }), '1 lease was in flight at the switch: 1 expired with their worker. 1 row was lost.'],
])('what became of the leases is one sentence that never claims more than is known', (seen, text) => {
  expect(tallyWords(seen)).toBe(text);
});

test('filters survive the way through the URL', () => {
  const query = (path: string) => new URLSearchParams(path.split('?')[1] ?? '');
  const list = { role: 'web', state: 'ended', version: 'v42', before: '01a22d66-f34f-7d36-83ed-0a14815d92f9', after: null } as const;
  expect(parseRedeployFilters(query(redeploysPath(list)))).toEqual(list);
  const fates = { outcome: 'given_back', before: '123' } as const;
  expect(parseFateFilter(query(redeployPath('x', fates)))).toEqual(fates);
});
