import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { pinoHttp } from 'pino-http';
import { v7 as uuidv7 } from 'uuid';
import type { Logger } from '../log.js';

/** One line a request: method, path without its query (it may carry secrets), status, duration. The id goes back as X-Request-Id. */
export function requestLog(log: Logger): RequestHandler {
  return pinoHttp<IncomingMessage, ServerResponse>({
    logger: log,
    genReqId: nameRequest,
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'requestId', responseTime: 'ms' },
    serializers: { req: requestFields, res: responseFields },
    wrapSerializers: false,
    customLogLevel: levelOf,
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request failed',
    customSuccessObject: (_req, _res, value) => ({ ...value, event: 'request' }),
    customErrorObject: (_req, _res, _error, value) => ({ ...value, event: 'request', err: undefined }),
  }) as RequestHandler;
}

/** A caller's own id is kept when it is short and plain, so that one request can be followed through both sides' logs. */
function nameRequest(req: IncomingMessage, res: ServerResponse): string {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : uuidv7();
  res.setHeader('X-Request-Id', id);
  return id;
}

type Addressed = IncomingMessage & { originalUrl?: string };

function requestFields(req: Addressed): Record<string, unknown> {
  return { method: req.method, path: (req.originalUrl ?? req.url ?? '').split('?', 1)[0]?.slice(0, 300) };
}

function responseFields(res: ServerResponse): Record<string, unknown> {
  return { status: res.headersSent ? res.statusCode : null };
}

/** Probes and files are many and say little; a client that left is no fault of ours. */
function levelOf(req: IncomingMessage, res: ServerResponse, error?: Error): 'error' | 'warn' | 'info' | 'debug' {
  if (res.statusCode >= 500) return 'error';
  if (error && res.headersSent) return 'warn';
  const path = ((req as Addressed).originalUrl ?? req.url ?? '').split('?', 1)[0] ?? '';
  return /^\/(healthz|readyz|metrics|assets\/)/.test(path) ? 'debug' : 'info';
}
