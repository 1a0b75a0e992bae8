import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequestHandler } from '@remix-run/express';
import type { AppLoadContext, ServerBuild } from '@remix-run/node';
import type { Request, RequestHandler, Response } from 'express';
import { addressKey } from '../operations/sign-in-limit.js';
import type { LoadContext, World } from './load-context.js';

/** The built Remix app. Throws an instruction when it was not built. */
export async function loadBuild(projectRoot: string): Promise<ServerBuild> {
  const file = path.join(projectRoot, 'build', 'app', 'index.js');
  if (!existsSync(file)) throw new Error(`The console is not built (${file} is missing). Start it with npm start or npm run web, which build what is missing.`);
  return await import(pathToFileURL(file).href) as ServerBuild;
}

/** Hands a request that passed the door to Remix, with what the shell knows about it. Pages are never stored by caches in between. */
export function pages(world: World, build: ServerBuild | (() => Promise<ServerBuild>)): RequestHandler {
  const handle = createRequestHandler({ build, getLoadContext: (req, res) => loadContext(world, req, res) });
  return (req: Request, res: Response, next) => {
    res.set('Cache-Control', 'no-store');
    delete req.headers['x-forwarded-host']; // Remix would take its port, whatever it is; PUBLIC_URL says what is true
    void handle(req, res, next);
  };
}

function loadContext(world: World, req: Request, res: Response): AppLoadContext {
  const { operator, nonce, closed } = res.locals as Omit<LoadContext, 'world' | 'address'>;
  return { world, operator, nonce, closed, address: addressKey(req.ip ?? '') };
}
