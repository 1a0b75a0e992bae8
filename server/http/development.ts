import type { ServerBuild } from '@remix-run/node';
import type { RequestHandler } from 'express';

/** Vite inside this process: files and pages as they are on disk right now. Only `npm run dev` gets here; vite is no part of a release. */
export async function developmentServer(projectRoot: string): Promise<{ files: RequestHandler[]; build: () => Promise<ServerBuild>; close: () => Promise<void> }> {
  const { createServer } = await import('vite');
  const vite = await createServer({ root: projectRoot, server: { middlewareMode: true } });
  return {
    files: [vite.middlewares as RequestHandler],
    build: () => vite.ssrLoadModule('virtual:remix/server-build') as Promise<ServerBuild>,
    close: () => vite.close(),
  };
}
