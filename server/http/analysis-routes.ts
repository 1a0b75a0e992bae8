import { startAnalysis } from '../api/analysis-jobs.js';
import { readIdempotencyKey } from '../api/idempotency.js';
import { answerJourney, readJourneyKey, readJourneyTag } from '../api/journey.js';
import { readReport } from '../api/report.js';
import { resolveSources } from '../api/resolve-sources.js';
import { unlinkSources } from '../api/session-sources.js';
import { eraseUser } from '../api/user-erasure.js';
import { journeyOptions } from '../console/journey-options.js';
import { analysisJobs } from '../lease/queues.js';
import type { Answer, Methods } from './api-routes.js';
import { matches } from './etag.js';
import type { World } from './load-context.js';

/** Analyses and what they read: paths and their methods. */
export function analysisRoutes(world: World): Record<string, Methods> {
  const { pool } = world;
  return {
    '/analysis-jobs': { POST: postAnalysis(world) },
    '/analysis-jobs/:jobId/report': { GET: async (req, res) => void res.set('Cache-Control', 'private, no-cache').json(await readReport(pool, String(req.params.jobId))) },
    '/resolve-sources': { POST: async (req, res) => void res.set('Cache-Control', 'no-store').json(await resolveSources(pool, req.body as unknown)) },
    '/sessions/:sessionId/journey': { GET: getJourney(world) },
    '/sessions/:sessionId/sources': { DELETE: deleteSources(world) },
    '/sessions/:sessionId/sources/:documentId': { DELETE: deleteSources(world) },
    '/users/:userId': { DELETE: deleteUser(world) },
  };
}

function postAnalysis({ config, pool, hints }: World): Answer {
  const desk = { pool, maxAttempts: config.maxAttempts, kickChannel: config.kickChannel };
  return async (req, res) => {
    const { body, replayed } = await startAnalysis(desk, { body: req.body as unknown, caller: res.locals.caller, key: readIdempotencyKey(req.get('idempotency-key')) });
    hints.changed(analysisJobs.table, [body.jobId]);
    if (replayed) res.set('Idempotency-Replayed', 'true');
    res.status(202).set('Location', `/api/analysis-jobs/${body.jobId}`).set('Cache-Control', 'no-store').json(body);
  };
}

function getJourney({ pool, kysely, config }: World): Answer {
  return async (req, res) => {
    const key = readJourneyKey(req.query.userId, req.params.sessionId);
    const tag = await readJourneyTag(pool, key);
    res.set('Cache-Control', 'private, no-cache');
    const known = req.get('if-none-match');
    if (known && matches(known, tag, res)) return void res.status(304).end();
    const journey = await answerJourney(kysely, key, journeyOptions(config));
    res.set('ETag', tag).json(journey);
  };
}

function deleteSources({ pool }: World): Answer {
  return async (req, res) => {
    const { sessionId, documentId } = req.params;
    res.set('Cache-Control', 'no-store').json(await unlinkSources(pool, { userId: req.query.userId, sessionId, documentId }));
  };
}

function deleteUser({ pool, hints }: World): Answer {
  return async (req, res) => {
    const { erased, changed } = await eraseUser(pool, req.params.userId);
    for (const { table, ids } of changed) if (ids.length > 0) hints.changed(table, ids);
    res.status(202).set('Cache-Control', 'no-store').json({ erased });
  };
}
