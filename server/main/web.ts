/**
 * The web process: console, live stream and product API. Stateless: killed at any moment it loses nothing but open connections and what
 * was only being received. A lost database connection never ends it; it says so on /readyz, on the page and in its answers.
 */
import { openSpool } from '../api/spool.js';
import { createApp } from '../http/app.js';
import { developmentServer } from '../http/development.js';
import { clientFiles } from '../http/files.js';
import { openLive } from '../http/live.js';
import { attentionIn, loadBuild, pages } from '../http/pages.js';
import { identify, createSweepLoop } from '../worker/process.js';
import { boot } from './boot.js';
import { listen } from './http-server.js';
import { createInlineWork } from './inline.js';
import { runMain, stopOnSignal } from './run-main.js';
import { createTelling } from './web-webhook.js';
import { createRegistration } from './web-registration.js';
import { endWorld, makeWorld, type World } from './world.js';

/** Uploads that may lie on this process's disk at once: this many of the largest. */
const SPOOLED_UPLOADS = 32;
/** After the drain: last words, listener, pool (ms). */
const CLOSE_SLACK_MS = 5_000;

await runMain(async () => {
  const { config, log } = await boot('web');
  const identity = identify(config, 'web', []);
  const world = makeWorld({ config, log, processId: identity.id });
  const registration = createRegistration({ pool: world.pool, identity, log });
  const sweeps = createSweepLoop({ config, pool: world.pool, identity, hints: world.hints, log });
  const inline = createInlineWork(world);
  const spool = await openSpool({ maxBytes: config.maxUploadBytes * SPOOLED_UPLOADS });
  const console = await consoleParts(world);
  const live = openLive(world);
  let stopping = false;
  const { attentionOf, ...served } = console;
  const app = createApp(world, { spool, ...served, live: live.router, liveClients: live.clients, stopping: () => stopping });

  await registration.start();
  world.listener.start();
  sweeps.start();
  inline.start();
  const server = await listen(app, config);
  log.info({ event: 'listening', host: config.host, port: server.port, version: config.appVersion }, 'listening');
  process.send?.({ listening: server.port });
  const webhook = createTelling(world, attentionOf, server.port);
  webhook?.start();

  stopOnSignal({
    log,
    budgetMs: config.drainSeconds * 1000 + CLOSE_SLACK_MS,
    async stop() {
      stopping = true;
      await registration.drain(config.drainSeconds);
      live.close();
      // Together: both have the whole budget, and neither waits for the other's.
      await Promise.all([server.close(config.drainSeconds * 1000), inline.stop(config.drainSeconds), webhook?.stop()]);
      await sweeps.stop();
      await registration.stop();
      await endWorld(world);
      await spool.close();
      await console.close();
    },
  });
});

/** The built console, or the one on disk while developing. */
async function consoleParts(world: World) {
  const { projectRoot } = world.config;
  if (process.env.NODE_ENV === 'development') {
    const vite = await developmentServer(projectRoot);
    return { files: vite.files, pages: pages(world, vite.build), attentionOf: attentionIn(vite.build), dev: true, close: vite.close };
  }
  const build = await loadBuild(projectRoot);
  return { files: clientFiles(projectRoot), pages: pages(world, build), attentionOf: attentionIn(build), dev: false, close: async () => undefined };
}
