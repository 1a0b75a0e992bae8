import { expect, it } from 'vitest';
import { strokes } from '../../app/charts/strokes';
import { queues } from '../../server/lease/queues.js';

it('each queue has a line of its own in the charts, told apart without its colour', () => {
  expect(strokes.length).toBeGreaterThanOrEqual(queues.length);
  const dashes = strokes.map((line) => ('strokeDasharray' in line ? line.strokeDasharray : 'solid'));
  expect(new Set(dashes).size).toBe(strokes.length);
});
