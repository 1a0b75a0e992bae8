/**
 * Unsafe requests that carry the session cookie must come from our own pages. The browser says so itself: Origin equals the public
 * address (or the address that was called, if the browser also says `Sec-Fetch-Site: same-origin` or no public address is set).
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Problem, sendProblem } from '../api/problem.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses unsafe requests from elsewhere with 403 `foreign_origin`. Mount before anything that reads the cookie's authority. */
export function sameOriginOnly(publicUrl: string | undefined): RequestHandler {
  const home = publicUrl ? new URL(publicUrl).origin : undefined;
  return (req: Request, res: Response, next: NextFunction) => {
    if (SAFE_METHODS.has(req.method)) return next();
    const origin = req.get('origin');
    if (!isOurs(req, origin, home)) return sendProblem(res, foreign(origin, home));
    adoptHost(req, origin);
    next();
  };
}

function isOurs(req: Request, origin: string | undefined, home: string | undefined): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  // `null` is how a page with a strict referrer policy says it; a page may not write Sec-Fetch-Site itself.
  if (origin === undefined || origin === 'null') return site === 'same-origin';
  if (origin === home) return true;
  const called = URL.canParse(origin) ? new URL(origin).host === req.get('host') : false;
  return called && (home === undefined || site === 'same-origin');
}

/** Remix compares Origin with Host once more and knows nothing of a proxy in front: it is told the host that was judged here. */
function adoptHost(req: Request, origin: string | undefined): void {
  delete req.headers['x-forwarded-host'];
  if (origin === 'null') delete req.headers.origin;
  else if (origin) req.headers.host = new URL(origin).host;
}

function foreign(origin: string | undefined, home: string | undefined): Problem {
  const came = origin === undefined ? 'without an Origin header' : `from ${origin.slice(0, 200)}`;
  const expected = home ? `${home} (PUBLIC_URL)` : 'the address of this console';
  return new Problem(403, 'foreign_origin', `This request came ${came}, but actions are accepted from ${expected} only. Open the console there and press the button again.`);
}
