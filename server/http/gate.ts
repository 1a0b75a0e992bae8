/**
 * The door, closed by default: no page, stream or action is reachable without a session. What is open is listed here and nowhere else
 * (health, assets and the bearer-token API are mounted before this door).
 */
import type { NextFunction, Request, Response } from 'express';
import { Problem, sendProblem } from '../api/problem.js';
import { localPath } from '../operations/return-to.js';
import { dataRedirect } from './data-redirect.js';

/** The sign-in page, one-time links, and the way to the provider and back (/signin/oidc, /signin/callback), as documents or as their `.data`. Exact: no other path may match by accident. */
const OPEN_PATHS = /^\/signin(\.data|\/[\w-]{1,200}(\.data)?)?\/?$/;

/** Lets signed-in requests and the sign-in pages pass; sends documents to /signin and answers everything else 401. */
export function gate(req: Request, res: Response, next: NextFunction): void {
  const url = addressOf(req);
  if (!url) return sendProblem(res, new Problem(400, 'invalid_request', 'The request has no usable Host header or path. Ask for a path such as / of the console\'s own address.'));
  if (res.locals.operator || (OPEN_PATHS.test(url.pathname) && !url.searchParams.has('_data'))) return next();
  if (wantsDocument(req, url)) return res.redirect(302, `/signin${returnTo(url)}`);
  if (url.pathname.endsWith('.data')) return sendDataRedirect(req, res, url);
  sendProblem(res, new Problem(401, 'signed_out', 'No session, or it has ended. Sign in at /signin and try again.'));
}

/** The address exactly as Remix will read it (same concatenation, same normalisation), or null. */
function addressOf(req: Request): URL | null {
  const text = `http://${req.get('host') ?? ''}${req.originalUrl}`;
  return req.originalUrl.startsWith('/') && URL.canParse(text) ? new URL(text) : null;
}

function wantsDocument(req: Request, url: URL): boolean {
  const reads = req.method === 'GET' || req.method === 'HEAD';
  const data = url.pathname.endsWith('.data') || url.pathname === '/__manifest' || url.pathname === '/live' || url.searchParams.has('_data');
  return reads && !data && req.accepts(['html', 'json', 'text/event-stream']) === 'html';
}

/** Remix's own requests for data; `_routes` and `index` are about the request, not about the page. */
function sendDataRedirect(req: Request, res: Response, url: URL): void {
  const page = new URL(url);
  page.pathname = page.pathname.replace(/(\/_root)?\.data$/, '');
  for (const name of ['_routes', 'index']) page.searchParams.delete(name);
  const action = req.method !== 'GET' && req.method !== 'HEAD';
  const body = dataRedirect(`/signin${action ? '' : returnTo(page)}`, { action, reload: true });
  res.status(401).set({ 'X-Remix-Response': 'yes', 'Cache-Control': 'no-store' }).type('text/x-script').send(body);
}

function returnTo(url: URL): string {
  const path = localPath(url.pathname + url.search);
  return path === '/' ? '' : `?returnTo=${encodeURIComponent(path)}`;
}
