import type { ChunkKey } from '../../sources/embeddings.js';
import { compareKeys, type Hit } from '../../sources/lexical-index.js';
import type { Neighbour } from './vectors.js';

export interface Scores {
  /** BM25; null when the words did not find it. */
  lexical: number | null;
  /** 1 − cosine distance; null when the vectors did not find it. */
  vector: number | null;
  /** Sum of 1 / (60 + rank) over both lists. */
  fused: number;
}

export interface Fused extends ChunkKey {
  scores: Scores;
}

/**
 * Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods", SIGIR 2009: k = 60
 * was chosen in a pilot there and hardly matters.
 */
const K = 60;

/** Both lists, best first, as one: best first, equals in the order of their keys. */
export function fuse(lexical: readonly Hit[], nearest: readonly Neighbour[]): Fused[] {
  const fused = new Map<string, Fused>();
  const at = ({ documentId, ordinal }: ChunkKey) => {
    const id = `${documentId} ${ordinal}`;
    const known = fused.get(id) ?? { documentId, ordinal, scores: { lexical: null, vector: null, fused: 0 } };
    fused.set(id, known);
    return known.scores;
  };
  lexical.forEach((hit, i) => Object.assign(at(hit), { lexical: hit.score, fused: at(hit).fused + 1 / (K + i + 1) }));
  nearest.forEach((hit, i) => Object.assign(at(hit), { vector: 1 - hit.distance, fused: at(hit).fused + 1 / (K + i + 1) }));
  return [...fused.values()].sort((a, b) => b.scores.fused - a.scores.fused || compareKeys(a, b));
}
