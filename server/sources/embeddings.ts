import type pg from 'pg';

type Db = Pick<pg.Pool, 'query'>;

export interface ChunkKey {
  documentId: string;
  ordinal: number;
}

export interface PendingChunk extends ChunkKey {
  body: string;
}

/** Chunks of these documents that have no embedding by `model`. */
export async function countPending(db: Db, documentIds: readonly string[], model: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `select count(*)::int as count from document_chunks
           where document_id = any ($1::uuid[]) and embedding_model is distinct from $2`,
    values: [documentIds, model],
  });
  return rows[0]?.count ?? 0;
}

/** The next of them after `after`, in key order. */
export async function readPending(db: Db, documentIds: readonly string[], model: string, limit: number, after: ChunkKey | undefined): Promise<PendingChunk[]> {
  const { rows } = await db.query<PendingChunk>({
    text: `select document_id as "documentId", ordinal, body from document_chunks
           where document_id = any ($1::uuid[]) and embedding_model is distinct from $2
             and ($4::uuid is null or (document_id, ordinal) > ($4::uuid, $5::int))
           order by document_id, ordinal limit $3`,
    values: [documentIds, model, limit, after?.documentId, after?.ordinal],
  });
  return rows;
}

/**
 * Stores vectors beside their chunks. Needs a transaction that has locked the lease it writes for. Rows are locked in key order first: two
 * jobs that embed the same document wait for each other instead of deadlocking. A chunk that was erased meanwhile is passed over.
 */
export async function storeEmbeddings(tx: Db, chunks: readonly ChunkKey[], vectors: readonly number[][], model: string): Promise<void> {
  await tx.query({
    text: `with given as materialized (
             select * from unnest($1::uuid[], $2::int[], $3::text[]) as g(document_id, ordinal, vector)
           ), locked as materialized (
             select c.document_id, c.ordinal from document_chunks c join given using (document_id, ordinal)
             order by c.document_id, c.ordinal for no key update of c
           )
           update document_chunks c set embedding = given.vector::real[], embedding_model = $4
           from locked join given using (document_id, ordinal)
           where c.document_id = locked.document_id and c.ordinal = locked.ordinal`,
    values: [chunks.map((chunk) => chunk.documentId), chunks.map((chunk) => chunk.ordinal), vectors.map((vector) => `{${vector.join(',')}}`), model],
  });
}
