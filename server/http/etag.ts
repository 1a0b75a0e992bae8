import type { Response } from 'express';

/** If-None-Match by itself: Express also lets the client's Cache-Control decide, which Node's own fetch always sends. */
export function matches(header: string, tag: string, res: Response): boolean {
  const same = header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
  if (same) res.set('ETag', tag);
  return same;
}
