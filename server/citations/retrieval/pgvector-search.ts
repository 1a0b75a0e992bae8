import type { Db, Neighbour, NearestQuestion, VectorSearch } from './vectors.js';

/** The scan is done by pgvector's operator; no index is used, so nothing is missed. */
export function pgvectorSearch(db: Db): VectorSearch {
  return { nearest: (question) => nearest(db, question), clear: () => undefined };
}

async function nearest(db: Db, { session, model, vector, documentId, limit }: NearestQuestion): Promise<Neighbour[]> {
  if (!vector.some((value) => value !== 0)) return [];
  const dimensions = vector.length;
  // The case keeps the cast away from vectors of another length, whatever plan is chosen. NaN is the distance to a vector of zeros.
  const { rows } = await db.query<Neighbour>({
    text: `select * from (
             select c.document_id as "documentId", c.ordinal,
               case when cardinality(c.embedding) = ${dimensions} then round((c.embedding::vector(${dimensions}) <=> $3::vector)::numeric, 6)::float8 end as distance
             from session_sources s join documents d on d.id = s.document_id and d.user_id = s.user_id join document_chunks c on c.document_id = d.id
             where s.user_id = $1 and s.session_id = $2 and d.user_id = $1 and c.embedding_model = $4 and ($5::uuid is null or c.document_id = $5)
           ) as near
           where distance <> 'NaN' order by distance, "documentId", ordinal limit $6`,
    values: [session.userId, session.sessionId, `[${vector.join(',')}]`, model, documentId, limit],
  });
  return rows;
}
