import { json, Router, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { readParseJob, readParseJobTag } from '../api/parse-job.js';
import { openUploadDesk, type UploadDesk } from '../api/parse-sources.js';
import { Problem } from '../api/problem.js';
import type { Spool } from '../api/spool.js';
import { authenticate } from '../api/token.js';
import type { World } from './load-context.js';

/** Largest JSON body of the product API. */
const MAX_JSON = '64kb';

/** The product backend's API, mounted at /api. Every call needs a bearer token, also those to paths that do not exist. */
export function apiRoutes(world: World, { spool, silenceMs }: { spool: Spool; silenceMs?: number }): Router {
  const { config, pool } = world;
  const desk = openUploadDesk({
    spool,
    limits: { ...config, silenceMs },
    staging: { pool, caps: config, maxAttempts: config.maxAttempts, kickChannel: config.kickChannel, changed: (table, ids) => world.hints.changed(table, ids) },
  });
  const api = Router({ caseSensitive: true });
  api.use(withToken(world));
  resource(api, '/parse-sources', { POST: postParseSources(desk) });
  resource(api, '/parse-jobs/:jobId', { GET: getParseJob(world) });
  api.use((req, res, next) => next(new Problem(404, 'no_such_call', `There is no ${req.baseUrl}${req.path.slice(0, 200)} in this API. Check the path against the API's documentation.`)));
  return api;
}

type Method = 'GET' | 'POST' | 'DELETE';
type Answer = (req: Request, res: Response) => Promise<void>;

/** One path and its methods; HEAD comes with GET, OPTIONS says what there is, anything else is 405 with Allow. */
function resource(api: Router, path: string, methods: Partial<Record<Method, Answer>>): void {
  const allowed = [...Object.keys(methods), ...(methods.GET ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (methods.GET) api.get(path, answering(methods.GET));
  if (methods.POST) api.post(path, jsonBody, answering(methods.POST));
  if (methods.DELETE) api.delete(path, answering(methods.DELETE));
  api.options(path, (_req, res) => void res.set('Allow', allowed).status(204).end());
  api.all(path, (req, _res, next) => next(new Problem(405, 'method_not_allowed', `${req.method} is not possible here; use ${allowed}.`, { headers: { Allow: allowed } })));
}

/** Parses application/json alone; uploads pass through unread. */
const jsonBody = json({ limit: MAX_JSON, strict: true });

function answering(answer: Answer): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    answer(req, res).catch(next);
  };
}

function withToken(world: World): RequestHandler {
  return (req, res, next) => {
    authenticate(world.pool, req.get('authorization')).then((caller) => {
      res.locals.caller = caller;
      next();
    }, next);
  };
}

function postParseSources(desk: UploadDesk): Answer {
  return async (req, res) => {
    const { status, body, replayed } = await desk.receive(req, res.locals.caller, res.locals.closed);
    if (replayed) res.set('Idempotency-Replayed', 'true');
    res.status(status).set('Location', `/api/parse-jobs/${body.jobId}`).set('Cache-Control', 'no-store').json(body);
  };
}

function getParseJob(world: World): Answer {
  return async (req, res) => {
    const jobId = String(req.params.jobId);
    res.set('Cache-Control', 'private, no-cache');
    const known = req.get('if-none-match');
    if (known && matches(known, await readParseJobTag(world.pool, jobId), res)) return void res.status(304).end();
    const { tag, job } = await readParseJob(world.pool, jobId);
    res.set('ETag', tag).json(job);
  };
}

/** If-None-Match by itself: Express also lets the client's Cache-Control decide, which Node's own fetch always sends. */
function matches(header: string, tag: string, res: Response): boolean {
  const same = header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
  if (same) res.set('ETag', tag);
  return same;
}
