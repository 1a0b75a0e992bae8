import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { Problem, sendProblem } from '../api/problem.js';
import { isConnectionError, refusalAtConnect } from '../db/connection-errors.js';
import { isLimitReached } from '../db/limited.js';
import type { Logger } from '../log.js';
import { requestIdOf } from './request-log.js';

/** The last handler: every error becomes one truthful answer; what we did not expect is logged with its stack and shown without it. */
export function failures(log: Logger): ErrorRequestHandler {
  return (error: unknown, req: Request, res: Response, _next: NextFunction) => {
    if (res.destroyed) return;
    const page = wantsPage(req);
    const problem = asProblem(error, page ? 'person' : 'program');
    if (problem.status >= 500) log.error({ event: 'request_failed', requestId: requestIdOf(res), error }, problem.detail);
    if (res.headersSent) return void res.destroy();
    if (page) return sendPage(res, problem, requestIdOf(res));
    sendProblem(res, problem);
  };
}

/** What an error means to whoever reads the answer. Never carries the error's own text, except for problems we wrote ourselves. */
export function asProblem(error: unknown, reader: 'person' | 'program' = 'program'): Problem {
  if (error instanceof Problem) return error;
  if (isLimitReached(error)) {
    return new Problem(503, 'database_slow', 'The database took too long to answer. Try again in a few seconds; if it stays slow, look for long locks with: npx leaseboard doctor', { headers: { 'Retry-After': '5' } });
  }
  if (isConnectionError(error)) return new Problem(503, 'database_unreachable', awayWords(refusalAtConnect(error), reader), { headers: { 'Retry-After': '5' } });
  const status = clientStatus(error);
  if (status) return new Problem(status, 'invalid_request', 'The request could not be read. Check its path, headers and body, then send it again.');
  return new Problem(500, 'internal', 'Something failed on our side and was logged with the request id of this answer. Try again; if it stays, report that id.');
}

/** A server that refuses to open connections at all did not come to any statement: nothing was done. */
function awayWords(refusal: string | undefined, reader: 'person' | 'program'): string {
  const what = refusal === undefined ? 'The database does not answer right now.' : `The database refuses connections right now (SQLSTATE ${refusal}).`;
  const stays = ' If it stays so, npx leaseboard doctor says what to check.';
  if (reader === 'person') return what + stays;
  return `${what} Try again in a few seconds; a repeated upload with the same Idempotency-Key is never taken twice.${refusal === undefined ? '' : stays}`;
}

/** Express and its body parser mark errors of the request itself with a 4xx status. */
function clientStatus(error: unknown): number | undefined {
  const status = error && typeof error === 'object' && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** Only who asks for HTML by name is sent a page; programs get the problem as JSON. */
function wantsPage(req: Request): boolean {
  const path = req.originalUrl.split('?', 1)[0] ?? '';
  return !/^\/api(\/|$)|\.data$/.test(path) && (req.get('accept') ?? '').includes('text/html');
}

/** A page for the case that no page can be rendered. It asks again by itself when waiting may help, and shows the id that it asks to report. */
function sendPage(res: Response, problem: Problem, requestId: string): void {
  const again = problem.status === 503 ? '<meta http-equiv="refresh" content="5">' : '';
  const waits = problem.status === 503 ? '<p>This page asks again by itself every 5 s.</p>' : '';
  const id = problem.status === 500 ? `<p>Request id: <code>${escaped(requestId)}</code></p>` : '';
  res.status(problem.status).set(problem.headers).set('Cache-Control', 'no-store').type('html').send(
    `<!doctype html><html lang="en" style="color-scheme:light dark"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}<title>${problem.title}</title></head>`
    + `<body style="font:16px/1.5 system-ui;max-width:40rem;margin:20vh auto;padding:0 1rem"><h1 style="font-size:1.25rem">${problem.title}</h1><p>${escaped(problem.detail)}</p>${waits}${id}</body></html>`,
  );
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
