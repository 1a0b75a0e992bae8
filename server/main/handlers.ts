/** What a process needs to work: the handlers of its queues, and a configuration that beats often enough. For workers and for inline work. */
import type pg from 'pg';
import { createCitationHandler } from '../citations/check-citation.js';
import { createAnalysisHandler } from '../citations/extract-claims.js';
import { createJudge } from '../citations/judge/create-judge.js';
import { createRetrieval } from '../citations/retrieval/retrieval.js';
import type { Config } from '../config.js';
import { createBuildHandler } from '../deployments/build.js';
import { createOrchestrator } from '../deployments/orchestrator-client.js';
import type { Handlers } from '../lease/handler.js';
import { createParseItemHandler } from '../parse/parse-item.js';
import { createParseJobHandler } from '../parse/parse-job.js';
import { createEmbedder } from '../sources/embedder.js';

/** One beat renews all leases of the process: where it drives publishes it keeps to the shorter of the two intervals. */
export function beatingOftenEnough(config: Config): Config {
  const publishes = config.orchestratorUrl !== undefined && config.workerCapabilities.includes('publish');
  return publishes ? { ...config, heartbeatSeconds: Math.min(config.heartbeatSeconds, config.publishHeartbeatSeconds) } : config;
}

/** Without an orchestrator nothing can be published, and no row of that queue is taken. */
export function handlersOf(config: Config, pool: pg.Pool): Handlers {
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
