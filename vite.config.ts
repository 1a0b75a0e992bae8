import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { vitePlugin as remix } from '@remix-run/dev';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';
import { denyImports } from 'vite-env-only';

declare module '@remix-run/node' {
  interface Future {
    v3_singleFetch: true;
  }
}

/** Remix empties its build directory first, so it gets one of its own; the results then move beside the server's: build/client, build/app. */
const STAGING = 'build/.remix';

async function moveResults(root: string) {
  for (const [from, to] of [['client', 'client'], ['server', 'app']] as const) {
    await rm(path.join(root, 'build', to), { recursive: true, force: true });
    await rename(path.join(root, STAGING, from), path.join(root, 'build', to));
  }
  await rm(path.join(root, STAGING), { recursive: true, force: true });
}

/** Remix's own `.server` guard does not cover a top-level server/ folder: without this, server code reaches the browser in silence. */
export function serverStaysOut() {
  return denyImports({ client: { specifiers: [/^node:/], files: [/^server\//, /^tests\//] } });
}

export default defineConfig({
  plugins: [
    serverStaysOut(),
    remix({
      buildDirectory: STAGING,
      future: {
        v3_fetcherPersist: true,
        v3_relativeSplatPath: true,
        v3_throwAbortReason: true,
        v3_singleFetch: true,
        v3_lazyRouteDiscovery: true,
        v3_routeConfig: true,
      },
      buildEnd: ({ viteConfig }) => moveResults(viteConfig.root),
    }),
    tailwindcss(),
  ],
  resolve: { alias: { '~': path.resolve(import.meta.dirname, 'app') } },
  build: { target: 'es2022', assetsInlineLimit: 0 },
});
