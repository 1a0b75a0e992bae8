/**
 * The Express shell around Remix, in the order in which a request meets it: log line; the bearer-token API, with headers of its own; headers
 * of everything else; health and files, which are open to all; then the door (session, gate, origin), and behind it the live stream and the pages.
 */
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Spool } from '../api/spool.js';
import { apiRoutes } from './api-routes.js';
import { failures } from './failures.js';
import { gate } from './gate.js';
import { healthRoutes } from './health.js';
import type { World } from './load-context.js';
import { metricsRoute } from './metrics.js';
import { sameOriginOnly } from './origin.js';
import { principal } from './principal.js';
import { requestLog } from './request-log.js';
import { dataHeaders, pageHeaders } from './security-headers.js';

export interface AppParts {
  spool: Spool;
  /** An upload that brings nothing for this long is given up (ms); default 30 s. */
  silenceMs?: number;
  /** Files of the built client, and the Remix handler. Left out by tests of the API alone. */
  files?: RequestHandler[];
  pages?: RequestHandler;
  /** The event stream, mounted at /live behind the door. */
  live?: Router;
  /** How many browsers listen to it. */
  liveClients?: () => number;
  /** Development server: its scripts and its socket are let through. */
  dev?: boolean;
  /** True while the process is being stopped: /readyz says 503. */
  stopping?: () => boolean;
}

/** Builds the app; nothing listens yet. */
export function createApp(world: World, parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('case sensitive routing', true).set('trust proxy', world.config.trustedProxies);
  const https = world.config.publicUrl?.startsWith('https:') ?? false;
  app.use(requestLog(world.log));
  app.use('/api', dataHeaders({ https }), apiRoutes(world, parts));
  app.use(...pageHeaders({ https, dev: parts.dev ?? false }));
  app.use(healthRoutes(world, parts.stopping));
  if (parts.files) app.use(...parts.files);
  app.use(principal(world));
  app.use(metricsRoute(world, parts.liveClients));
  app.use(gate, sameOriginOnly(world.config.publicUrl));
  if (parts.live) app.use('/live', parts.live);
  if (parts.pages) app.use(parts.pages);
  app.use(failures(world.log));
  return app;
}
