import { expect, test } from 'vitest';
import type { SeriesView } from '../../server/console/series.js';
import { markersOf } from '../../app/charts/markers.js';

const NOW = 1_790_000_000_000;
const MINUTE = 60_000;
const points = Array.from({ length: 60 }, (_, n) => ({ at: NOW - (60 - n) * MINUTE, ended: 1, waitP50: null, waitP95: null }));
const at = (minutesAgo: number) => NOW - minutesAgo * MINUTE;

function series(view: Partial<Pick<SeriesView, 'redeploys' | 'actions'>>): SeriesView {
  return { asOf: NOW, queues: [{ slug: 'parse-items', title: 'Parse items', points }], redeploys: [], actions: [], ...view } as SeriesView;
}

const labelsOf = (view: SeriesView) => markersOf(view).map(({ label }) => label);

test('a label stands to the right of its line, to the left near the end of the hour', () => {
  const markers = markersOf(series({ actions: [{ at: at(50), action: 'drain', by: 'Ada' }, { at: at(2), action: 'force_release', by: 'Ada' }] }));
  expect(markers.map(({ label, side }) => [label, side])).toEqual([['drain · Ada', 'right'], ['force release', 'left']]);
});

test('web and worker of one version share a label; what else has no room is only hinted at', () => {
  expect(labelsOf(series({ redeploys: [{ at: at(40), role: 'web', toVersion: 'v43' }, { at: at(39), role: 'worker', toVersion: 'v43' }] }))).toEqual(['all v43', '']);
  expect(labelsOf(series({ redeploys: [{ at: at(40), role: 'web', toVersion: 'v43' }], actions: [{ at: at(39), action: 'cancel', by: 'Ada' }] }))).toEqual(['web v43, …', '']);
});

test('however many markers an hour has, no two labels lie on each other and none leaves the chart', () => {
  for (let step = 1; step <= 20; step++) {
    const actions = Array.from({ length: Math.floor(58 / step) }, (_, n) => ({ at: at(58 - n * step), action: n % 2 ? 'release' : 'pause_queue', by: n % 3 ? 'Ada' : 'Grace Hopper-Murray of the rota' }));
    const reach = markersOf(series({ actions })).filter(({ label }) => label !== '').map(({ at: from, label, side }) => {
      const width = label.length * 80_000;
      return side === 'right' ? [from, from + width] as const : [from - width, from] as const;
    });
    expect(reach.length).toBeGreaterThan(0);
    expect(reach.every(([, end]) => end <= NOW), `every ${step} minutes`).toBe(true);
    for (const [n, [start]] of reach.entries()) if (n > 0) expect(start, `every ${step} minutes`).toBeGreaterThanOrEqual(reach[n - 1]![1]);
  }
});
