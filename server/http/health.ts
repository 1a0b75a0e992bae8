import { Router, type Response } from 'express';
import { refusalAtConnect } from '../db/connection-errors.js';
import { migrationsIn, pendingMigrations } from '../db/migrate.js';
import type { World } from './load-context.js';

/** Whoever probes readiness waits this long at most (ms). */
const PROBE_LIMIT_MS = 3_000;

/** GET /healthz: the process is alive. GET /readyz: it can serve; 503 with every reason why not. Both are open and say nothing secret. */
export function healthRoutes(world: World, stopping: (() => boolean) | undefined): Router {
  const routes = Router();
  routes.get('/healthz', (_req, res) => void send(res, 200, { status: 'alive', version: world.config.appVersion }));
  routes.get('/readyz', (_req, res, next) => {
    reasonsNotReady(world, stopping?.() ?? false).then((reasons) => {
      send(res, reasons.length > 0 ? 503 : 200, { status: reasons.length > 0 ? 'not ready' : 'ready', version: world.config.appVersion, reasons });
    }, next);
  });
  return routes;
}

function send(res: Response, status: number, body: object): void {
  res.status(status).set('Cache-Control', 'no-store').json(body);
}

async function reasonsNotReady(world: World, stopping: boolean): Promise<string[]> {
  const reasons = await withinLimit(databaseReasons(world));
  if (!world.listener.state().up) reasons.push('listener: not listening to notifications; the console polls');
  if (stopping) reasons.push('process: it is being stopped');
  return reasons;
}

async function databaseReasons(world: World): Promise<string[]> {
  try {
    const pending = await pendingMigrations(world.pool, migrationsIn(world.config.projectRoot));
    return pending.length > 0 ? [`schema: ${pending.length} migrations of this version are not applied, first ${pending[0]}`] : [];
  } catch (error) {
    const refusal = refusalAtConnect(error);
    return [refusal === undefined ? 'database: it does not answer' : `database: it refuses connections (SQLSTATE ${refusal})`];
  }
}

async function withinLimit(reasons: Promise<string[]>): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([`database: no answer within ${PROBE_LIMIT_MS / 1000} s`]), PROBE_LIMIT_MS);
  });
  return Promise.race([reasons, late]).finally(() => clearTimeout(timer));
}
