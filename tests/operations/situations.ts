/** Rows in the situations that pages are looked at in, made by the engine's own statements. */
import type { Verb } from '../../server/lease/ending.js';
import { deployments, jobCitations, parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import type { ActionName } from '../../server/operations/actions.js';
import { awaitingAnalysis } from '../citations/rows.js';
import { accepted, deskOf, fallSilent, newApp } from '../deployments/world.js';
import { alice, newJob, sweepOptions } from '../lease/world.js';
import { insertDocument, insertRow } from '../support/factories.js';
import { ada, claim, expire, press, type Desk } from './world.js';

/** `desk` is asked for at each use: it is opened before the tests run. */
export function situations(desk: () => Desk) {
  const item = async (count = 1) => {
    const { jobId, itemIds } = await newJob(desk().pool, count);
    return { jobId, id: itemIds[0]!, itemIds };
  };
  /** A file that worker-1 holds under lease 1, its time run out. */
  async function staleItem() {
    const made = await item();
    await claim(desk().pool, parseItems, alice, made.id);
    await expire(desk().pool, parseItems, made.id);
    return { ...made, fields: { queue: 'parse_items', id: made.id, token: '1' } };
  }
  const end = (id: string, verb: Verb, token = '1', more: { code?: string; message?: string } = {}) => settle(desk().pool, parseItems, alice, [{ id, token, verb, ...more }]);
  const settings = () => ({ ...sweepOptions, kickChannel: desk().world.config.kickChannel });
  const byAda = (name: ActionName, fields: Record<string, unknown>) => press(desk(), name, fields, { actor: ada });

  /** An app whose publish worker-1 drives under lease 1, silent for `seconds`. */
  async function drivenPublish(seconds = 0) {
    const app = newApp();
    const id = await accepted(deskOf(desk().pool), app);
    await claim(desk().pool, deployments, alice, id);
    await fallSilent(desk().pool, id, seconds);
    return { app, id, fields: { queue: 'deployments', id, token: '1' } };
  }

  /** An analysis whose checks have ended: the first failed, the others succeeded; the cited source is linked. */
  async function partlyFailed(count = 2) {
    const { jobId, citationIds } = await awaitingAnalysis(desk().pool, 'user-1', count);
    const { rows } = await desk().pool.query<{ session_id: string }>('select session_id from analysis_jobs where id = $1', [jobId]);
    const source = await insertDocument(desk().pool);
    await desk().pool.query('update job_citations set session_id = $1, document_id = $2 where job_id = $3', [rows[0]!.session_id, source.id, jobId]);
    await insertRow(desk().pool, 'session_sources', { user_id: 'user-1', session_id: rows[0]!.session_id, document_id: source.id, linked_by: 'parse_item' });
    for (const [n, id] of citationIds.entries()) {
      await claim(desk().pool, jobCitations, alice, id);
      if (n > 0) await desk().pool.query(`update job_citations set verdict = 'supported' where id = $1`, [id]);
      await settle(desk().pool, jobCitations, alice, [{ id, token: '1', verb: n === 0 ? 'fail' : 'succeed', code: 'model_refused', message: 'The model refused.' }]);
    }
    return { jobId, citationIds, source: source.id, sessionId: rows[0]!.session_id };
  }

  return { item, staleItem, end, settings, byAda, drivenPublish, partlyFailed };
}
