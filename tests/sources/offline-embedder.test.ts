import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { englishText, germanText } from '../fixtures/pdfs.js';

const embedder = offlineEmbedder();
const never = new AbortController().signal;
const similarity = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

test('vectors have 384 dimensions and length one, also for a text without a word', async () => {
  const vectors = await embedder.embed([englishText, germanText[0]!, '§ % –', ''], never);
  for (const vector of vectors) {
    expect(vector).toHaveLength(384);
    expect(similarity(vector, vector)).toBeCloseTo(1, 5);
  }
});

test('the same text always gives the same vector', async () => {
  const [a] = await embedder.embed([englishText], never);
  const [b] = await offlineEmbedder().embed([englishText], never);
  expect(a).toEqual(b);
});

test('a question is nearer to the passage that shares its words, inflected or not, than to another', async () => {
  const [question, near, far] = await embedder.embed(['Wie groß ist die Änderung der Varianzen?', germanText.join(' '), englishText], never);
  expect(similarity(question!, near!)).toBeGreaterThan(similarity(question!, far!) + 0.1);
});

test('its model name says that it is offline', () => {
  expect(embedder.model).toBe('offline-hash-384');
});

test('the event loop gets its turn between texts, and an abort is heard', async () => {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const controller = new AbortController();
  const work = embedder.embed(Array.from({ length: 2_000 }, () => englishText.repeat(5)), controller.signal);
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await expect(work).rejects.toThrow('enough');
  delay.disable();
  expect(delay.percentile(50) / 1e6).toBeLessThan(200);
});
