/** POST /api/resolve-sources: links documents that this user had parsed before to a session. All of them or none. */
import type pg from 'pg';
import { linkSource } from '../sources/session-sources.js';
import { documentNotFound, invalidRequest, isUuid, readId } from './ids.js';
import { withUserLock } from './user-lock.js';

/** More than any session has. */
const MOST_DOCUMENTS = 500;

export async function resolveSources(pool: pg.Pool, body: unknown): Promise<{ linked: number; documentIds: string[] }> {
  const given = (body ?? {}) as Record<string, unknown>;
  const [userId, sessionId, documentIds] = [readId(given.userId, 'userId'), readId(given.sessionId, 'sessionId'), readDocumentIds(given.documentIds)];
  return withUserLock(pool, userId, async (tx) => {
    const { rowCount } = await tx.query('select 1 from documents where user_id = $1 and id = any ($2::uuid[]) order by id for key share', [userId, documentIds]);
    if (rowCount !== documentIds.length) throw documentNotFound();
    return { linked: await linkSource(tx, { userId, sessionId, documentIds, linkedBy: 'resolve' }), documentIds };
  });
}

function readDocumentIds(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_DOCUMENTS) throw invalidRequest(`documentIds must be a list of 1 to ${MOST_DOCUMENTS} ids`);
  const ids = value.map((id) => (isUuid(id) ? id.toLowerCase() : undefined));
  if (ids.includes(undefined)) throw documentNotFound();
  return [...new Set(ids as string[])];
}
