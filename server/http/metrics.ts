import { timingSafeEqual } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { Problem } from '../api/problem.js';
import { secretHash } from '../operations/secret.js';
import type { World } from './load-context.js';
import { createMetrics } from './metric-registry.js';

/** GET /metrics for Prometheus: with the bearer METRICS_TOKEN, or for someone signed in. Mount behind principal(). */
export function metricsRoute(world: World, liveClients: (() => number) | undefined): Router {
  const metrics = createMetrics(world, liveClients ?? (() => 0));
  const routes = Router();
  routes.get('/metrics', (req, res, next) => {
    if (!mayRead(req, res, world.config.metricsToken)) return next(notAllowed());
    metrics.text().then((text) => void res.type(metrics.contentType).set('Cache-Control', 'no-store').send(text), next);
  });
  return routes;
}

function mayRead(req: Request, res: Response, metricsToken: string | undefined): boolean {
  if (res.locals.operator) return true;
  const given = /^Bearer +(\S+)$/i.exec(req.get('authorization') ?? '')?.[1];
  return metricsToken !== undefined && given !== undefined && timingSafeEqual(secretHash(given), secretHash(metricsToken));
}

function notAllowed(): Problem {
  return new Problem(401, 'unauthorized', 'Metrics need the header "Authorization: Bearer METRICS_TOKEN" (set METRICS_TOKEN on this process), or a signed-in operator.', { headers: { 'WWW-Authenticate': 'Bearer realm="leaseboard metrics"' } });
}
