import { cleanText } from '../db/text.js';
import { Problem } from './problem.js';

const MAX_ID_CHARS = 200;
const MAX_EMAIL_CHARS = 320;

export interface UploadOwner {
  userId: string;
  sessionId: string;
  userEmail: string | null;
}

/** Whose upload it is. Throws a 400 Problem that names the field, what is expected and what to do. */
export function readOwner(fields: ReadonlyMap<string, string>): UploadOwner {
  return {
    userId: requiredId(fields, 'userId'),
    sessionId: requiredId(fields, 'sessionId'),
    userEmail: printable(fields, 'userEmail', MAX_EMAIL_CHARS) ?? null,
  };
}

function requiredId(fields: ReadonlyMap<string, string>, name: string): string {
  const value = printable(fields, name, MAX_ID_CHARS);
  if (value === undefined) throw invalid(`the field ${name} is missing or empty`);
  return value;
}

/** Control characters are refused, not dropped: two different ids must never become one. */
function printable(fields: ReadonlyMap<string, string>, name: string, maxChars: number): string | undefined {
  const given = fields.get(name)?.trim() ?? '';
  if (given === '') return undefined;
  if (/\p{Cc}/u.test(given)) throw invalid(`the field ${name} contains control characters`);
  const value = cleanText(given);
  if ([...value].length > maxChars) throw invalid(`the field ${name} is longer than ${maxChars} characters`);
  return value;
}

function invalid(what: string): Problem {
  return new Problem(400, 'invalid_upload', `This upload cannot be accepted: ${what}. Nothing was stored; correct the field and send it again.`);
}
