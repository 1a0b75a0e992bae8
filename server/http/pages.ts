import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequestHandler } from '@remix-run/express';
import type { AppLoadContext, ServerBuild } from '@remix-run/node';
import type { Request, RequestHandler, Response } from 'express';
import type { LoadContext, World } from './load-context.js';

/** The built Remix app. Throws when it was not built. */
export async function loadBuild(projectRoot: string): Promise<ServerBuild> {
  return await import(pathToFileURL(path.join(projectRoot, 'build', 'app', 'index.js')).href) as ServerBuild;
}

/** Hands a request that passed the door to Remix, with what the shell knows about it. Pages are never stored by caches in between. */
export function pages(world: World, build: ServerBuild | (() => Promise<ServerBuild>)): RequestHandler {
  const handle = createRequestHandler({ build, getLoadContext: (_req, res) => loadContext(world, res) });
  return (req: Request, res: Response, next) => {
    res.set('Cache-Control', 'no-store');
    void handle(req, res, next);
  };
}

function loadContext(world: World, res: Response): AppLoadContext {
  const { operator, nonce, closed } = res.locals as Omit<LoadContext, 'world'>;
  return { world, operator, nonce, closed };
}
