/** Workers in this process that read theses and check their citations, with short clocks. */
import type { Config } from '../../server/config.js';
import { createCitationHandler } from '../../server/citations/check-citation.js';
import { createAnalysisHandler } from '../../server/citations/extract-claims.js';
import type { Judge } from '../../server/citations/judge/judge.js';
import { modelJudge } from '../../server/citations/judge/model-judge.js';
import { offlineJudge } from '../../server/citations/judge/offline-judge.js';
import { createRetrieval, type Retrieval } from '../../server/citations/retrieval/retrieval.js';
import { createLogger } from '../../server/log.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { createWorkerProcess, type WorkerProcess } from '../../server/worker/process.js';
import type { TestDatabase } from '../support/database.js';
import type { ModelStub } from '../support/model-stub.js';

const clocks = { leaseSeconds: 4, heartbeatSeconds: 1, sweepSeconds: 1, pollSeconds: 1, drainSeconds: 2, workerConcurrency: 4 } as const;
const workers = new Set<{ end(): Promise<void> }>();

export interface Checker extends WorkerProcess { retrieval: Retrieval; end(): Promise<void> }

export async function startChecker(database: TestDatabase, judge: Judge = offlineJudge(), overrides: Partial<Config> = {}): Promise<Checker> {
  const config = database.config({ ...clocks, workerCapabilities: ['citations'], ...overrides });
  const pool = database.createPool({ max: 6 });
  const retrieval = createRetrieval({ pool, embedder: offlineEmbedder(), config });
  const handlers = {
    analysis_jobs: createAnalysisHandler({ judge: judge.label, maxAttempts: config.maxAttempts, kickChannel: config.kickChannel }),
    job_citations: createCitationHandler({ retrieval, judge }),
  };
  const worker = createWorkerProcess({ config, role: 'worker', pool, handlers, log: createLogger({ level: 'silent', name: 'test' }) });
  let ended: Promise<void> | undefined;
  const one = { ...worker, retrieval, end: () => (ended ??= worker.stop(0.1).then(() => pool.end())) };
  workers.add(one);
  await worker.start();
  return one;
}

/** One try, so that a test need not wait for more. */
export function stubJudge(stub: ModelStub): Judge {
  return modelJudge({ baseUrl: stub.baseUrl, model: 'stub', timeoutMs: 60_000, tries: 1, firstPauseMs: 1 });
}

export async function stopCheckers(): Promise<void> {
  await Promise.all([...workers].map((one) => one.end()));
  workers.clear();
}
