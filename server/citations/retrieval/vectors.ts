import type pg from 'pg';
import type { ChunkKey } from '../../sources/embeddings.js';
import type { SessionKey, SourceState } from '../../sources/source-chunks.js';

export type Db = Pick<pg.Pool, 'query'>;

/** A chunk and its cosine distance to the question: 0 the same direction, 2 the opposite one; rounded to six decimals. */
export interface Neighbour extends ChunkKey {
  distance: number;
}

export interface NearestQuestion {
  session: SessionKey;
  state: SourceState;
  /** Only vectors of this model and of the same length are compared. */
  model: string;
  vector: readonly number[];
  documentId?: string;
  limit: number;
}

/** Exact nearest neighbours among the chunks of a session's sources: nearest first, equals in the order of their keys. */
export interface VectorSearch {
  nearest(question: NearestQuestion): Promise<Neighbour[]>;
  /** Drops whatever is kept in memory. */
  clear(): void;
}

/** Whether this database has the `vector` type. */
export async function hasPgvector(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>(`select to_regtype('vector') is not null as has`);
  return rows[0]?.has ?? false;
}
