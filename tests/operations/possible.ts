/** For each action of the table a target on which it is possible now, made anew at each call, and what pressing it leaves. */
import { v7 as uuidv7 } from 'uuid';
import { deployments, parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import type { ActionName } from '../../server/operations/actions.js';
import { alice, newJob } from '../lease/world.js';
import { insertDocument, insertRow, insertWorker } from '../support/factories.js';
import { situations } from './situations.js';
import { ALL, claim, cleo, press, type Desk } from './world.js';

export interface Possible {
  action: ActionName;
  target: string;
  /** The fields of the request. */
  arrange(): Promise<Record<string, unknown>>;
}

export const guarded = ['release', 'force_release', 'rekick', 'cancel', 'clear_lock', 'reset_sources', 'drain', 'resume', 'pause_queue', 'resume_queue', 'erase_user'] as const satisfies readonly ActionName[];

export function possible(desk: () => Desk): Possible[] {
  const s = situations(desk);
  const worker = async () => (await insertWorker(desk().pool, { label: 'worker-9', version: 'v9', capabilities: ALL })).id;
  const failedPublish = async () => {
    const { id } = await s.drivenPublish();
    await settle(desk().pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    return id;
  };
  const linkedSession = async () => {
    const userId = `user-${uuidv7()}`;
    const source = await insertDocument(desk().pool, { user_id: userId });
    await insertRow(desk().pool, 'session_sources', { user_id: userId, session_id: `session-of-${userId}`, document_id: source.id, linked_by: 'parse_item' });
    return { userId, sessionId: `session-of-${userId}` };
  };
  return [
    { action: 'release', target: 'a stale file', arrange: async () => (await s.staleItem()).fields },
    { action: 'release', target: 'a publish whose worker is stale', arrange: async () => {
      const { id, fields } = await s.drivenPublish();
      await desk().pool.query(`update deployments set lease_expires_at = now() - interval '1 minute' where id = $1`, [id]);
      return fields;
    } },
    { action: 'force_release', target: 'a file that is being read', arrange: async () => {
      const { id } = await s.item();
      await claim(desk().pool, parseItems, alice, id);
      return { queue: 'parse-items', id, token: '1' };
    } },
    { action: 'force_release', target: 'a publish that is being built', arrange: async () => (await s.drivenPublish()).fields },
    { action: 'rekick', target: 'a file that waits', arrange: async () => ({ queue: 'parse-items', id: (await s.item()).id }) },
    { action: 'rekick', target: 'a failed citation', arrange: async () => ({ queue: 'citations', id: (await s.partlyFailed()).citationIds[0] }) },
    { action: 'rekick', target: 'a report with failed citations', arrange: async () => ({ queue: 'analysis-jobs', id: (await s.partlyFailed(3)).jobId }) },
    { action: 'rekick', target: 'a failed publish', arrange: async () => ({ queue: 'deployments', id: await failedPublish() }) },
    { action: 'cancel', target: 'a file that waits', arrange: async () => ({ queue: 'parse-items', id: (await s.item(2)).id }) },
    { action: 'cancel', target: 'an upload with a file that is being read', arrange: async () => {
      const { id, jobId } = await s.item(2);
      await claim(desk().pool, parseItems, alice, id);
      return { queue: 'parse-jobs', id: jobId };
    } },
    { action: 'cancel', target: 'a publish', arrange: async () => ({ queue: 'deployments', id: (await s.drivenPublish()).id }) },
    { action: 'clear_lock', target: 'a silent publish', arrange: async () => (await s.drivenPublish(400)).fields },
    { action: 'reset_sources', target: 'a session with a source', arrange: linkedSession },
    { action: 'drain', target: 'a worker', arrange: async () => ({ worker: await worker() }) },
    { action: 'resume', target: 'a drained worker', arrange: async () => {
      const fields = { worker: await worker() };
      await press(desk(), 'drain', fields, { actor: cleo });
      return fields;
    } },
    { action: 'pause_queue', target: 'a queue', arrange: async () => {
      await desk().pool.query('delete from queue_pauses');
      return { queue: 'citations' };
    } },
    { action: 'resume_queue', target: 'a paused queue', arrange: async () => {
      await desk().pool.query('delete from queue_pauses');
      await press(desk(), 'pause_queue', { queue: 'citations' }, { actor: cleo });
      return { queue: 'citations' };
    } },
    { action: 'erase_user', target: 'a user with data', arrange: async () => {
      const { userId } = await linkedSession();
      await newJob(desk().pool, 1, { userId });
      await desk().pool.query(`update parse_items set state = 'cancelled', finished_at = now(), file_bytes = null where user_id = $1`, [userId]);
      await desk().pool.query(`update parse_jobs set state = 'cancelled', finished_at = now(), open_children = 0 where user_id = $1`, [userId]);
      return { userId };
    } },
  ];
}
