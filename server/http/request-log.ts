import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from '../log.js';

/** One line a request: method, path without its query (it may carry secrets), status, duration. The id goes back as X-Request-Id. */
export function requestLog(log: Logger): RequestHandler {
  // Looking each line through for secret fields would cost more than all else about it. These are named here; secrets within a text are removed all the same.
  const requests = log.child({ event: 'request' }, { redact: [] });
  return (req: Request, res: Response, next: NextFunction) => {
    const [requestId, from] = [nameRequest(req, res), performance.now()];
    res.once('close', () => {
      const path = pathOf(req);
      const level = levelOf(path, res);
      if (!requests.isLevelEnabled(level)) return;
      requests[level]({ requestId, req: { method: req.method, path: path.slice(0, 300) }, res: { status: res.headersSent ? res.statusCode : null }, ms: Math.round(performance.now() - from) }, res.errored || res.statusCode >= 500 ? 'request failed' : 'request');
    });
    next();
  };
}

/** A caller's own id is kept when it is short and plain, so that one request can be followed through both sides' logs. */
function nameRequest(req: Request, res: Response): string {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
  res.setHeader('X-Request-Id', id);
  return id;
}

/** The id that requestLog gave it. */
export function requestIdOf(res: Response): string {
  return String(res.getHeader('X-Request-Id'));
}

function pathOf({ originalUrl }: Request): string {
  const query = originalUrl.indexOf('?');
  return query < 0 ? originalUrl : originalUrl.slice(0, query);
}

/** Probes and files are many and say little; a client that left is no fault of ours. */
function levelOf(path: string, res: Response): 'error' | 'warn' | 'info' | 'debug' {
  if (res.statusCode >= 500) return 'error';
  if (res.errored && res.headersSent) return 'warn';
  return /^\/(healthz|readyz|metrics|assets\/)/.test(path) ? 'debug' : 'info';
}
