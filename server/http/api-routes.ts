import { Router, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { ANALYSIS_TAG, readAnalysis } from '../api/analysis-view.js';
import { cancelDeployment, DEPLOYMENT_TAG, readAttempt, readDeployment } from '../api/deployments.js';
import { readIdempotencyKey } from '../api/idempotency.js';
import { isUuid } from '../api/ids.js';
import { answerOperation } from '../api/operations.js';
import { PARSE_JOB_TAG, readParseJob } from '../api/parse-job.js';
import { openUploadDesk, type UploadDesk } from '../api/parse-sources.js';
import { Problem } from '../api/problem.js';
import { answerPublish, type Publishing } from '../api/publish.js';
import type { Spool } from '../api/spool.js';
import { createAuthenticate, requireScope, scopeOf, type Authenticate } from '../api/token.js';
import { deployments } from '../lease/queues.js';
import { analysisRoutes } from './analysis-routes.js';
import { closedSignal } from './closed-signal.js';
import { matches } from './etag.js';
import { jsonBody } from './json-body.js';
import type { World } from './load-context.js';

/** The product backend's API, mounted at /api. Every call needs a bearer token, also those to paths that do not exist. */
export function apiRoutes(world: World, { spool, silenceMs }: { spool: Spool; silenceMs?: number }): Router {
  const { config, pool } = world;
  const desk = openUploadDesk({
    spool,
    limits: { ...config, silenceMs },
    staging: { pool, caps: config, maxAttempts: config.maxAttempts, takesInline: config.workerCapabilities.includes('parse'), kickChannel: config.kickChannel, changed: (table, ids) => world.hints.changed(table, ids) },
  });
  const api = Router({ caseSensitive: true });
  const polled = polledStates(world);
  for (const { path, tag } of polled) api.get(path, withToken(createAuthenticate(pool, tag), knownState));
  api.use(withToken(createAuthenticate(pool)));
  for (const { path, read } of polled) resource(api, path, { GET: getPolled(read) });
  resource(api, '/parse-sources', { POST: postParseSources(desk) }, []);
  resource(api, '/projects/:projectId/publish', { POST: postPublish(world) });
  resource(api, '/deployments/:id/attempts/:attempt', { GET: getAttempt(world) });
  resource(api, '/deployments/:id/cancel', { POST: postCancel(world) });
  resource(api, '/operations/:action', { POST: postOperation(world) });
  for (const [path, methods] of Object.entries(analysisRoutes(world))) resource(api, path, methods);
  api.use((req, res, next) => next(new Problem(404, 'no_such_call', `There is no ${req.baseUrl}${req.path.slice(0, 200)} in this API. Check the path against the API's documentation.`)));
  return api;
}

type Method = 'GET' | 'POST' | 'DELETE';
export type Answer = (req: Request, res: Response) => Promise<void>;
export type Methods = Partial<Record<Method, Answer>>;

/** One path and its methods; HEAD comes with GET, OPTIONS says what there is, anything else is 405 with Allow. `body` reads what a POST carries. */
function resource(api: Router, path: string, methods: Methods, body = [jsonBody]): void {
  const allowed = [...Object.keys(methods), ...(methods.GET ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (methods.GET) api.get(path, answering(methods.GET));
  if (methods.POST) api.post(path, ...body, answering(methods.POST));
  if (methods.DELETE) api.delete(path, answering(methods.DELETE));
  api.options(path, (_req, res) => void res.set('Allow', allowed).status(204).end());
  api.all(path, (req, _res, next) => next(new Problem(405, 'method_not_allowed', `${req.method} is not possible here; use ${allowed}.`, { headers: { Allow: allowed } })));
}

function answering(answer: Answer): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    answer(req, res).catch(next);
  };
}

/** Who calls, once a call. What is read alongside goes on to the answer. */
function withToken(authenticate: Authenticate, also: (req: Request) => string | undefined = () => undefined): RequestHandler {
  return (req, res, next) => {
    if (res.locals.caller) return next();
    authenticate(req.get('authorization'), also(req)).then(({ caller, alongside }) => {
      requireScope(caller, scopeOf(req.method, req.path));
      Object.assign(res.locals, { caller, alongside });
    }).then(() => next(), next);
  };
}

type ReadState = (id: string) => Promise<{ tag: string; body: object }>;

/** What clients poll. What the ETag says (`tag`) is read with the caller's token; the state itself only for those who do not know it. */
function polledStates({ config, pool }: World): { path: string; tag: string; read: ReadState }[] {
  return [
    { path: '/parse-jobs/:id', tag: PARSE_JOB_TAG, read: (id) => readParseJob(pool, id) },
    { path: '/analysis-jobs/:id', tag: ANALYSIS_TAG, read: (id) => readAnalysis(pool, id) },
    { path: '/deployments/:id', tag: DEPLOYMENT_TAG, read: (id) => readDeployment(pool, id, config.publishDeadAfterSeconds) },
  ];
}

/** The row that a client knows already; nothing for a malformed id, which a uuid column would refuse for all who asked together. */
function knownState(req: Request): string | undefined {
  return req.get('if-none-match') && isUuid(req.params.id) ? req.params.id : undefined;
}

function getPolled(read: ReadState): Answer {
  return async (req, res) => {
    res.set('Cache-Control', 'private, no-cache');
    const [known, tag] = [req.get('if-none-match'), res.locals.alongside as string | null];
    if (known && tag !== null && matches(known, `"${tag}"`, res)) return void res.status(304).end();
    const state = await read(String(req.params.id));
    res.set('ETag', state.tag).json(state.body);
  };
}

function postParseSources(desk: UploadDesk): Answer {
  return async (req, res) => {
    const { status, body, replayed } = await desk.receive(req, res.locals.caller, closedSignal(res));
    if (replayed) res.set('Idempotency-Replayed', 'true');
    res.status(status).set('Location', `/api/parse-jobs/${body.jobId}`).set('Cache-Control', 'no-store').json(body);
  };
}

function postPublish({ config, pool, hints }: World): Answer {
  const publishing: Publishing = config.orchestratorUrl === undefined ? undefined
    : { pool, deadAfterSeconds: config.publishDeadAfterSeconds, maxAttempts: config.maxAttempts, kickChannel: config.kickChannel };
  return async (req, res) => {
    const { body, replayed } = await answerPublish(publishing, {
      projectId: String(req.params.projectId), body: req.body as unknown, caller: res.locals.caller, key: readIdempotencyKey(req.get('idempotency-key')),
    });
    hints.changed(deployments.table, [body.deploymentId]);
    if (replayed) res.set('Idempotency-Replayed', 'true');
    res.status(202).set('Location', `/api/deployments/${body.deploymentId}/attempts/${body.attempt}`).set('Cache-Control', 'no-store').json(body);
  };
}

function getAttempt({ pool }: World): Answer {
  return async (req, res) => void res.set('Cache-Control', 'no-store').json(await readAttempt(pool, String(req.params.id), String(req.params.attempt)));
}

function postCancel({ config, pool, hints }: World): Answer {
  return async (req, res) => {
    const body = await cancelDeployment({ pool, kickChannel: config.kickChannel }, String(req.params.id), req.body as unknown, `token ${res.locals.caller.name}`);
    hints.changed(deployments.table, [body.deploymentId]);
    res.status(202).set('Cache-Control', 'no-store').json(body);
  };
}

function postOperation(world: World): Answer {
  return async (req, res) => {
    const answer = await answerOperation(world, { action: String(req.params.action), body: req.body as unknown, caller: res.locals.caller, key: readIdempotencyKey(req.get('idempotency-key')) });
    if (answer.repeated) res.set('Idempotency-Replayed', 'true');
    res.set('Cache-Control', 'no-store').json(answer);
  };
}
