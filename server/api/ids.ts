import { cleanText } from '../db/text.js';
import { Problem } from './problem.js';

const MAX_ID_CHARS = 200;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether a uuid column takes it. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** A user's or session's id, read as uploads read it, so that both mean the same. Throws a 400 Problem that names the field. */
export function readId(value: unknown, name: string): string {
  const given = typeof value === 'string' ? value.trim() : '';
  if (given === '') throw invalidRequest(`${name} is missing, empty or not a text`);
  if (/\p{Cc}/u.test(given)) throw invalidRequest(`${name} contains control characters`);
  const id = cleanText(given);
  if ([...id].length > MAX_ID_CHARS) throw invalidRequest(`${name} is longer than ${MAX_ID_CHARS} characters`);
  return id;
}

export function invalidRequest(what: string): Problem {
  return new Problem(400, 'invalid_request', `This request could not be read: ${what}. Nothing was changed; correct it and send it again.`);
}

/** Foreign, unknown and malformed ids alike: nothing tells them apart. */
export function documentNotFound(): Problem {
  return new Problem(404, 'document_not_found', 'This user has no such document. Use a documentId that GET /api/parse-jobs/:jobId answered for an upload of this user.');
}
