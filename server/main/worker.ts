/**
 * The worker process: claims, works, beats, settles. Killed at any moment it loses nothing: its leases run out and the sweep requeues the
 * rows. SIGTERM drains it within DRAIN_SECONDS.
 */
import type pg from 'pg';
import { createCitationHandler } from '../citations/check-citation.js';
import { createAnalysisHandler } from '../citations/extract-claims.js';
import { createJudge } from '../citations/judge/create-judge.js';
import { createRetrieval } from '../citations/retrieval/retrieval.js';
import { createPool } from '../db/connection.js';
import type { Handlers } from '../lease/handler.js';
import type { Config } from '../config.js';
import { createBuildHandler } from '../deployments/build.js';
import { createOrchestrator } from '../deployments/orchestrator-client.js';
import { createParseItemHandler } from '../parse/parse-item.js';
import { createParseJobHandler } from '../parse/parse-job.js';
import { createEmbedder } from '../sources/embedder.js';
import { createWorkerProcess } from '../worker/process.js';
import { boot } from './boot.js';
import { runMain, stopOnSignal } from './run-main.js';

/** After the drain: last words, connections, pool (ms). */
const CLOSE_SLACK_MS = 5_000;

await runMain(async () => {
  const { config: booted, log } = await boot('worker');
  const config = beatingOftenEnough(booted);
  const pool = createPool(config, { role: 'worker', log });
  const worker = createWorkerProcess({ config, role: 'worker', pool, handlers: handlersOf(config, pool), log });
  // Before the first claim: a signal that comes while starting must find someone who gives back.
  stopOnSignal({
    log,
    budgetMs: config.drainSeconds * 1000 + CLOSE_SLACK_MS,
    async stop() {
      await worker.stop(config.drainSeconds);
      await pool.end();
    },
  });
  await worker.start();
  process.send?.({ ready: worker.identity.id });
});

/** One beat renews all leases of the process: where it drives publishes it keeps to the shorter of the two intervals. */
function beatingOftenEnough(config: Config): Config {
  const publishes = config.orchestratorUrl !== undefined && config.workerCapabilities.includes('publish');
  return publishes ? { ...config, heartbeatSeconds: Math.min(config.heartbeatSeconds, config.publishHeartbeatSeconds) } : config;
}

/** Without an orchestrator nothing can be published, and no row of that queue is taken. */
function handlersOf(config: Config, pool: pg.Pool): Handlers {
  const { orchestratorUrl: url, orchestratorToken: token } = config;
  const embedder = createEmbedder(config);
  const judge = createJudge(config);
  return {
    ...(url ? { deployments: createBuildHandler({ orchestrator: createOrchestrator({ url, token }) }) } : {}),
    parse_items: createParseItemHandler({ limits: { maxSeconds: config.parseMaxSeconds, maxMemoryMb: config.parseMaxMemoryMb, maxPages: config.parseMaxPages } }),
    parse_jobs: createParseJobHandler({ embedder, kickChannel: config.kickChannel }),
    analysis_jobs: createAnalysisHandler({ judge: judge.label, maxAttempts: config.maxAttempts, kickChannel: config.kickChannel }),
    job_citations: createCitationHandler({ retrieval: createRetrieval({ pool, embedder, config }), judge }),
  };
}
