import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequestHandler } from '@remix-run/express';
import type { AppLoadContext, ServerBuild } from '@remix-run/node';
import type { Request, RequestHandler, Response } from 'express';
import { addressKey } from '../operations/sign-in-limit.js';
import type { AttentionOf } from '../webhook/conditions.js';
import { closedSignal } from './closed-signal.js';
import { asProblem } from './failures.js';
import type { LoadContext, World } from './load-context.js';

/** The built Remix app. Throws an instruction when it was not built. */
export async function loadBuild(projectRoot: string): Promise<ServerBuild> {
  const file = path.join(projectRoot, 'build', 'app', 'index.js');
  if (!existsSync(file)) throw new Error(`The console is not built (${file} is missing). Start it with npm start or npm run web, which build what is missing.`);
  return await import(pathToFileURL(file).href) as ServerBuild;
}

/** What the built app says needs attention: its entry exports the list that Now renders. @throws when the build has none: it is older than this server. */
export function attentionIn(build: ServerBuild | (() => Promise<ServerBuild>)): AttentionOf {
  return async (view, now, feed) => {
    const entry = (typeof build === 'function' ? await build() : build).entry.module as { attentionOf?: AttentionOf };
    if (!entry.attentionOf) throw new Error('The console was built before this server was. Build it anew with npm start or npm run web.');
    return entry.attentionOf(view, now, feed);
  };
}

/** Hands a request that passed the door to Remix, with what the shell knows about it. Pages are never stored by caches in between. */
export function pages(world: World, build: ServerBuild | (() => Promise<ServerBuild>)): RequestHandler {
  const truthful = typeof build === 'function' ? async () => sayingOutages(world, await build()) : sayingOutages(world, build);
  const handle = createRequestHandler({ build: truthful, getLoadContext: (req, res) => loadContext(world, req, res) });
  return (req: Request, res: Response, next) => {
    res.set('Cache-Control', 'no-store');
    delete req.headers['x-forwarded-host']; // Remix would take its port, whatever it is; PUBLIC_URL says what is true
    void handle(req, res, next);
  };
}

type Handler = (args: never) => unknown;

/** Remix answers 500 to whatever a loader or action throws, unless it is a Response: of an outage the same 503 as everywhere else. */
function sayingOutages(world: World, build: ServerBuild): ServerBuild {
  const saying = <T extends Handler>(handler: T | undefined) => handler && (async (args: never) => {
    try {
      return await handler(args);
    } catch (error) {
      const problem = error instanceof Response ? undefined : asProblem(error);
      if (problem?.status !== 503) throw error;
      world.log.error({ event: 'request_failed', error }, problem.detail);
      throw Response.json(problem.body(), { status: 503, headers: problem.headers });
    }
  });
  const routes = Object.entries(build.routes).map(([id, route]) => [id, route && { ...route, module: { ...route.module, loader: saying(route.module.loader as Handler), action: saying(route.module.action as Handler) } }]);
  return { ...build, routes: Object.fromEntries(routes) as ServerBuild['routes'] };
}

function loadContext(world: World, req: Request, res: Response): AppLoadContext {
  const { operator, nonce } = res.locals as Pick<LoadContext, 'operator' | 'nonce'>;
  return { world, operator, nonce, closed: closedSignal(res), address: addressKey(req.ip ?? '') };
}
