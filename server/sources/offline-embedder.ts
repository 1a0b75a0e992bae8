import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Embedder } from './embedder.js';

const DIMENSIONS = 384;
/** Letters of the n-grams that let "Varianz" and "Varianzen" meet. */
const GRAM = 4;
const WORD_WEIGHT = 1;
const GRAM_WEIGHT = 0.4;
/** Texts embedded before the event loop gets its turn: a few milliseconds. */
const TEXTS_A_TURN = 8;

/**
 * No service, no model file: hashed words and letter n-grams, unit length. Two texts are near when they share words. Deterministic on
 * every machine. Its name says offline wherever a result is shown.
 */
export function offlineEmbedder(): Embedder {
  return {
    model: `offline-hash-${DIMENSIONS}`,
    dimensions: DIMENSIONS,
    batchSize: 128,
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (const text of texts) {
        if (vectors.length % TEXTS_A_TURN === 0) await nextTurn();
        signal.throwIfAborted();
        vectors.push(embedOne(text));
      }
      return vectors;
    },
  };
}

function embedOne(text: string): number[] {
  const vector = new Float64Array(DIMENSIONS);
  for (const [word, count] of wordCounts(text)) {
    const weight = 1 + Math.log(count);
    add(vector, word, weight * WORD_WEIGHT);
    const padded = ` ${word} `;
    for (let at = 0; at + GRAM <= padded.length; at++) add(vector, padded.slice(at, at + GRAM), weight * GRAM_WEIGHT);
  }
  return unit(vector);
}

function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** One feature, one place, one sign: collisions cancel out instead of adding up. */
function add(vector: Float64Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const place = hash % DIMENSIONS;
  vector[place] = (vector[place] ?? 0) + (hash & 0x8000_0000 ? -weight : weight);
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV mixes its high bits poorly over short strings.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** A text without a word becomes the first axis: every vector has length one. */
function unit(vector: Float64Array): number[] {
  const length = Math.hypot(...vector);
  if (length === 0) return Array.from(vector, (_, place) => (place === 0 ? 1 : 0));
  return Array.from(vector, (value) => Math.fround(value / length));
}
