import type { JudgedPassage } from '../../../server/citations/judge/judge.js';

/** Passages of one document, one behind the other. */
export function passagesOf(...bodies: string[]): JudgedPassage[] {
  let at = 100;
  return bodies.map((body, ordinal) => {
    const charFrom = at;
    at += body.length + 1;
    return { documentId: 'd1', ordinal, body, pageFrom: 3, pageTo: 3, pageStarts: null, charFrom, charTo: charFrom + body.length };
  });
}

export const never = new AbortController().signal;
