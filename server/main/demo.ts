/**
 * `npm start -- --demo`: a database of its own, invented people who upload, analyse and publish through the public API, and a rolling redeploy of
 * the worker every few minutes. The traffic is a process of its own; when it ends, it is started again like any other.
 */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import { supervise, type Supervised } from './supervise.js';

/** Both versions take work for so long (ms) before the older one drains. */
const OVERLAP_MS = 10_000;

/** @throws where what is invented would stand among what is real. */
export function demoFolder({ dataDir, embedded }: Pick<Config, 'dataDir' | 'embedded'>): string {
  if (!embedded) throw new Error('The demo invents people and papers, and writes them into a database of its own. Unset DATABASE_URL, then start it again.');
  return path.join(dataDir, 'demo');
}

/** @param address of the console. */
export function startTraffic(config: Config, address: string, token: string, log: Logger): Supervised {
  const env = { ...process.env, DEMO_URL: address, DEMO_TOKEN: token };
  return supervise('demo traffic', path.join(config.projectRoot, 'server', 'main', 'prepare.mjs'), env, log, ['demo']);
}

/** A worker whose next version takes work before the last one drains, every `everyMs` (ms). Versions count up from `config.appVersion`. */
export function rollWorkers(startVersion: (version: string) => Supervised, { appVersion, everyMs, drainLimitMs }: { appVersion: string; everyMs: number; drainLimitMs: number }): Supervised {
  let number = 1;
  let running = [startVersion(appVersion)];
  let rolling: Promise<void> | undefined;
  const timer = setInterval(() => { rolling ??= roll().finally(() => { rolling = undefined; }); }, everyMs);

  async function roll(): Promise<void> {
    const [last] = running;
    running = [last!, startVersion(`${appVersion}-${++number}`)];
    await pause(Math.min(OVERLAP_MS, everyMs));
    await last!.stop(drainLimitMs);
    running = running.slice(1);
  }

  return {
    async stop(limitMs) {
      clearInterval(timer);
      await Promise.all(running.map((worker) => worker.stop(limitMs)));
    },
    kill() {
      clearInterval(timer);
      for (const worker of running) worker.kill();
    },
    restart: () => running.at(-1)!.restart(),
  };
}
