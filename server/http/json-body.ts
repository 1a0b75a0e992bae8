import { json, type Request, type RequestHandler } from 'express';
import { Problem } from '../api/problem.js';

/** Largest JSON body of the product API. */
const MAX_JSON = '64kb';

/** Reads a JSON body into `req.body`; none is none. Throws 400 and 413 Problems that say what is wrong with the body itself, before its fields are judged. */
export const jsonBody: RequestHandler = (req, res, next) => {
  // What is not declared as JSON would be passed over unread, and every field of it called missing.
  if (carriesBody(req) && !req.is('json')) return next(unreadable(`its body is declared as ${req.get('content-type')?.slice(0, 100) ?? 'nothing'}, not as JSON. Send the header "Content-Type: application/json"`));
  parse(req, res, (error?: unknown) => next(bodyProblem(error)));
};

const parse = json({ limit: MAX_JSON, strict: true });

/** A length of 0 is no body: many clients send it with every POST. */
function carriesBody(req: Request): boolean {
  return req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0;
}

function bodyProblem(error: unknown): unknown {
  switch ((error as { type?: string } | undefined)?.type) {
    case 'entity.parse.failed': return unreadable('its body is not JSON, or no object. Check its quotes, commas and braces');
    case 'entity.too.large': return new Problem(413, 'invalid_request', `This request is longer than ${MAX_JSON}. Nothing was changed; send less in one request.`);
    default: return error;
  }
}

function unreadable(why: string): Problem {
  return new Problem(400, 'invalid_request', `This request could not be read: ${why}, and send it again. Nothing was changed.`);
}
