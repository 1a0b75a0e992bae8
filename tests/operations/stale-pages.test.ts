// Between page and press something happened to the target. For each action and each of its refusals: nothing is changed, the answer says what is
// true now and who made it so, and the attempt is on record. Whatever happens in between is done by the engine or by the door itself.
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { analysisJobs, deployments, jobCitations, parseItems, parseJobs } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { actions, type ActionName } from '../../server/operations/actions.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { newAnalysis } from '../citations/rows.js';
import { accepted, deskOf } from '../deployments/world.js';
import { alice, bob, invariantSettings, newJob } from '../lease/world.js';
import { testDatabase } from '../support/database.js';
import { insertDocument, insertRow, insertWorker } from '../support/factories.js';
import { situations } from './situations.js';
import { claim, clearAll, expire, openDesk, picture, press, registerWorkers, type Desk } from './world.js';

let desk: Desk;
let pool: pg.Pool;
beforeAll(async () => {
  const db = await testDatabase();
  pool = db.createPool({ max: 8 });
  desk = openDesk(db, pool);
});
beforeEach(async () => {
  await clearAll(pool);
  await registerWorkers(pool);
});

const { item, staleItem, end, settings, byAda, drivenPublish, partlyFailed } = situations(() => desk);

interface Case {
  action: ActionName;
  code: string;
  when: string;
  /** Who made it so, and what is true now. */
  says: RegExp;
  arrange(): Promise<Record<string, unknown>>;
}

const finishedByWorker = /ended meanwhile: succeeded by worker-1 \(v1\), \d+ s ago/;
const freeing = (action: 'release' | 'force_release'): Case[] => [
  { action, code: 'finished', when: 'its worker finished it', says: finishedByWorker, arrange: async () => {
    const { fields, id } = await staleItem();
    await end(id, 'succeed');
    return fields;
  } },
  { action, code: 'finished', when: 'its worker failed it for good', says: /failed with no_text by worker-1 \(v1\)/, arrange: async () => {
    const { fields, id } = await staleItem();
    await end(id, 'fail', '1', { code: 'no_text', message: 'It has no text.' });
    return fields;
  } },
  { action, code: 'finished', when: 'someone cancelled it', says: /cancelled by ada, \d+ s ago/, arrange: async () => {
    const { fields } = await staleItem();
    await byAda('cancel', fields);
    return fields;
  } },
  { action, code: 'finished', when: 'someone cancelled its upload', says: /cancelled by ada/, arrange: async () => {
    const { fields, jobId } = await staleItem();
    await byAda('cancel', { queue: 'parse_jobs', id: jobId });
    return fields;
  } },
  { action, code: 'finished', when: 'the sweep failed it as poison', says: /failed with worker_lost by the sweep/, arrange: async () => {
    const { fields } = await staleItem();
    await sweep(pool, { ...settings(), maxLostLeases: 1 });
    return fields;
  } },
  { action, code: 'finished', when: 'it was cancelled, queued again and finished by another worker: the last one is named', says: /succeeded by worker-2 \(v2\)/, arrange: async () => {
    const { jobId } = await partlyFailed(1);
    await byAda('rekick', { queue: 'analysis_jobs', id: jobId });
    const { rows } = await pool.query<{ id: string }>('select id from job_citations where job_id = $1', [jobId]);
    const lease = await claim(pool, jobCitations, bob, rows[0]!.id);
    await pool.query(`update job_citations set verdict = 'supported' where id = $1`, [lease.id]);
    await settle(pool, jobCitations, bob, [{ id: lease.id, token: lease.token, verb: 'succeed' }]);
    return { queue: 'citations', id: lease.id, token: '1' };
  } },
  { action, code: 'reclaimed', when: 'the sweep took it back and another worker has it', says: /worker-2 \(v2\) has taken it since you looked, \d+ s ago \(lease #2\)/, arrange: async () => {
    const { fields, id } = await staleItem();
    await sweep(pool, settings());
    await claim(pool, parseItems, bob, id);
    return fields;
  } },
  { action, code: 'reclaimed', when: 'someone released it and its old worker has it again', says: /worker-1 \(v1\) has taken it since you looked/, arrange: async () => {
    const { fields, id } = await staleItem();
    await byAda('release', fields);
    await claim(pool, parseItems, alice, id);
    return fields;
  } },
  { action, code: 'already_released', when: 'someone released it', says: /released by ada, \d+ s ago, and waits for a worker/, arrange: async () => {
    const { fields } = await staleItem();
    await byAda('release', fields);
    return fields;
  } },
  { action, code: 'already_released', when: 'someone took it by force', says: /taken by force by ada/, arrange: async () => {
    const { fields } = await staleItem();
    await byAda('force_release', fields);
    return fields;
  } },
  { action, code: 'already_released', when: 'the sweep was first, though someone had released it earlier', says: /taken back by the sweep/, arrange: async () => {
    const { fields, id } = await staleItem();
    await byAda('release', fields);
    await claim(pool, parseItems, bob, id);
    await expire(pool, parseItems, id);
    await sweep(pool, settings());
    return { ...fields, token: '2' };
  } },
  { action, code: 'already_released', when: 'its worker gave it back in a drain', says: /given back by worker-1 \(v1\)/, arrange: async () => {
    const { fields, id } = await staleItem();
    await end(id, 'drain');
    return fields;
  } },
  { action, code: 'already_released', when: 'its worker failed and it waits for the next try', says: /put back after a failure by worker-1 \(v1\)/, arrange: async () => {
    const { fields, id } = await staleItem();
    await end(id, 'retry', '1', { code: 'internal', message: 'A crash.' });
    return fields;
  } },
  { action, code: 'already_released', when: 'the sweep detached the worker of a publish', says: /taken back by the sweep/, arrange: async () => {
    const { fields, id } = await drivenPublish(10);
    await expire(pool, deployments, id);
    await sweep(pool, settings());
    return fields;
  } },
];

const cases: Case[] = [
  { action: 'release', code: 'lease_valid', when: 'its worker has beaten again', says: /valid for another (59 s|1 m); worker-1 \(v1\) last beat \d+ s ago.*Wait for the lease to run out, or have an admin force it/, arrange: async () => {
    const { fields, id } = await staleItem();
    await renew(pool, [{ queue: 'parse_items', id, token: '1' }], 60);
    return fields;
  } },
  ...freeing('release'),
  ...freeing('force_release'),

  { action: 'rekick', code: 'input_gone', when: 'it failed: its bytes are erased', says: /bytes are erased when a file ends\. Ask the customer to upload the file again/, arrange: async () => {
    const { id } = await staleItem();
    await end(id, 'fail', '1', { code: 'no_text', message: 'It has no text.' });
    return { queue: 'parse-items', id };
  } },
  { action: 'rekick', code: 'input_gone', when: 'none of its files could be read', says: /none of its files could be read.*Ask the customer to upload them again/, arrange: async () => {
    const { id, jobId } = await staleItem();
    await end(id, 'fail', '1', { code: 'no_text', message: 'It has no text.' });
    return { queue: 'parse-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'input_gone', when: 'its thesis was erased', says: /thesis was erased\. Ask the customer to upload it again and to start a new analysis/, arrange: async () => {
    const id = await newAnalysis(pool);
    await claim(pool, analysisJobs, alice, id);
    await settle(pool, analysisJobs, alice, [{ id, token: '1', verb: 'fail', code: 'thesis_erased', message: 'Gone.' }]);
    return { queue: 'analysis-jobs', id };
  } },
  { action: 'rekick', code: 'input_gone', when: 'the source that a citation cites was unlinked', says: /cited source is no longer linked in this session\. Ask the customer to upload or link it again/, arrange: async () => {
    const { citationIds, sessionId } = await partlyFailed();
    await byAda('reset_sources', { userId: 'user-1', sessionId });
    return { queue: 'citations', id: citationIds[0] };
  } },
  { action: 'rekick', code: 'input_gone', when: 'the sources of all failed citations of an analysis were unlinked', says: /no longer linked in this session/, arrange: async () => {
    const { jobId, sessionId } = await partlyFailed();
    await byAda('reset_sources', { userId: 'user-1', sessionId });
    return { queue: 'analysis-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'running', when: 'a worker has taken it', says: /It is running: worker-1 \(v1\) took it \d+ s ago, last beat \d+ s ago/, arrange: async () => {
    const { id } = await item();
    await claim(pool, parseItems, alice, id);
    return { queue: 'parse-items', id };
  } },
  { action: 'rekick', code: 'running', when: 'a worker had taken it and fell silent', says: /worker-1 \(v1\) took it .* but its lease ran out 1 m 30 s ago.*release the stale lease/, arrange: async () => {
    const { id } = await staleItem();
    return { queue: 'parse-items', id };
  } },
  { action: 'rekick', code: 'running', when: 'it awaits its files', says: /awaits its own parts, which are under way/, arrange: async () => {
    const { jobId } = await item();
    return { queue: 'parse-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'running', when: 'someone has re-kicked its failed citations', says: /they were queued again by ada, \d+ s ago/, arrange: async () => {
    const { jobId } = await partlyFailed();
    await byAda('rekick', { queue: 'analysis-jobs', id: jobId });
    return { queue: 'analysis-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'running', when: 'someone has re-kicked a failed publish and a worker builds it', says: /worker-2 \(v2\) took it/, arrange: async () => {
    const { id } = await drivenPublish();
    await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    await byAda('rekick', { queue: 'deployments', id });
    await claim(pool, deployments, bob, id);
    return { queue: 'deployments', id };
  } },
  { action: 'rekick', code: 'already_queued', when: 'someone has offered it again', says: /queued again already by ada, \d+ s ago, and waits for a worker/, arrange: async () => {
    const { id } = await item();
    await byAda('rekick', { queue: 'parse-items', id });
    return { queue: 'parse-items', id };
  } },
  { action: 'rekick', code: 'already_queued', when: 'someone has re-kicked its analysis', says: /queued again already by ada/, arrange: async () => {
    const { jobId, citationIds } = await partlyFailed();
    await byAda('rekick', { queue: 'analysis-jobs', id: jobId });
    return { queue: 'citations', id: citationIds[0] };
  } },
  { action: 'rekick', code: 'already_queued', when: 'someone has re-kicked the failed publish', says: /queued again already by a publish from button \(re-kick by ada\)/, arrange: async () => {
    const { id } = await drivenPublish();
    await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    await byAda('rekick', { queue: 'deployments', id });
    return { queue: 'deployments', id };
  } },
  { action: 'rekick', code: 'cap_reached', when: 'its user has uploaded so much since', says: /has 3 uploads that are still being parsed; 3 are allowed at once/, arrange: async () => {
    const { jobId, itemIds } = await newJob(pool, 1, { userId: 'busy' });
    await claim(pool, parseItems, alice, itemIds[0]!);
    await end(itemIds[0]!, 'succeed');
    const lease = await claim(pool, parseJobs, alice, jobId);
    await settle(pool, parseJobs, alice, [{ ...lease, verb: 'fail', code: 'internal', message: 'A crash.' }]);
    for (let n = 0; n < 3; n++) await newJob(pool, 1, { userId: 'busy' });
    return { queue: 'parse-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'finished', when: 'its worker finished it', says: /nothing to repeat: it is succeeded by worker-1 \(v1\), \d+ s ago/, arrange: async () => {
    const { id } = await staleItem();
    await end(id, 'succeed');
    return { queue: 'parse-items', id };
  } },
  { action: 'rekick', code: 'finished', when: 'its last citation was checked', says: /nothing to repeat: it is succeeded by worker-1 \(v1\)/, arrange: async () => {
    const { jobId, citationIds } = await partlyFailed();
    await byAda('rekick', { queue: 'citations', id: citationIds[0] });
    const lease = await claim(pool, jobCitations, alice, citationIds[0]!);
    await pool.query(`update job_citations set verdict = 'not_supported' where id = $1`, [lease.id]);
    await settle(pool, jobCitations, alice, [{ ...lease, verb: 'succeed' }]);
    return { queue: 'analysis-jobs', id: jobId };
  } },
  { action: 'rekick', code: 'analysis_in_progress', when: 'the customer has started it anew', says: /analysed for this session already \([0-9a-f-]{36}\).*wait for that one/, arrange: async () => {
    const thesis = await insertDocument(pool);
    const owner = { userId: 'user-1', sessionId: 'session-1', thesis: thesis.id };
    const id = await newAnalysis(pool, owner);
    await claim(pool, analysisJobs, alice, id);
    await settle(pool, analysisJobs, alice, [{ id, token: '1', verb: 'fail', code: 'internal', message: 'A crash.' }]);
    await newAnalysis(pool, owner);
    return { queue: 'analysis-jobs', id };
  } },
  { action: 'rekick', code: 'queue_paused', when: 'someone has paused publishing', says: /Publishing is paused by ada, \d+ s ago \(“a test”\)/, arrange: async () => {
    const { id } = await drivenPublish();
    await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    await byAda('pause_queue', { queue: 'deployments' });
    return { queue: 'deployments', id };
  } },

  { action: 'cancel', code: 'finished', when: 'its worker finished it', says: finishedByWorker, arrange: async () => {
    const { id } = await staleItem();
    await end(id, 'succeed');
    return { queue: 'parse-items', id };
  } },
  { action: 'cancel', code: 'finished', when: 'someone cancelled it', says: /cancelled by ada/, arrange: async () => {
    const { id } = await item();
    await byAda('cancel', { queue: 'parse-items', id });
    return { queue: 'parse-items', id };
  } },
  { action: 'cancel', code: 'finished', when: 'someone cancelled its upload', says: /cancelled by ada/, arrange: async () => {
    const { id, jobId } = await item();
    await byAda('cancel', { queue: 'parse-jobs', id: jobId });
    return { queue: 'parse-items', id };
  } },
  { action: 'cancel', code: 'finished', when: 'its last part ended', says: /failed with no_item_succeeded by worker-1 \(v1\)/, arrange: async () => {
    const { id, jobId } = await staleItem();
    await end(id, 'fail', '1', { code: 'no_text', message: 'It has no text.' });
    return { queue: 'parse-jobs', id: jobId };
  } },
  { action: 'cancel', code: 'finished', when: 'the publish went live or failed', says: /failed with build_failed by worker-1 \(v1\)/, arrange: async () => {
    const { id } = await drivenPublish();
    await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    return { queue: 'deployments', id };
  } },
  { action: 'cancel', code: 'already_asked', when: 'someone has asked the publish to end', says: /asked for already by ada, \d+ s ago; its lock is held until its build has ended/, arrange: async () => {
    const { id } = await drivenPublish();
    await byAda('cancel', { queue: 'deployments', id });
    return { queue: 'deployments', id };
  } },

  { action: 'clear_lock', code: 'holder_alive', when: 'its worker has beaten again', says: /The publish is alive: worker-1 \(v1\) last beat \d+ s ago/, arrange: async () => {
    const { id, fields } = await drivenPublish(400);
    await renew(pool, [{ queue: 'deployments', id, token: '1' }], 60);
    return fields;
  } },
  { action: 'clear_lock', code: 'already_clear', when: 'someone has cleared it', says: /the publish is failed with cleared by ada, \d+ s ago/, arrange: async () => {
    const { fields } = await drivenPublish(400);
    await byAda('clear_lock', fields);
    return fields;
  } },
  { action: 'clear_lock', code: 'already_clear', when: 'its worker came back and ended it', says: /failed with build_failed by worker-1 \(v1\)/, arrange: async () => {
    const { id, fields } = await drivenPublish(400);
    await settle(pool, deployments, alice, [{ id, token: '1', verb: 'fail', code: 'build_failed', message: 'No.' }]);
    return fields;
  } },
  { action: 'clear_lock', code: 'reclaimed', when: 'another publish has taken it over', says: /taken anew since you looked by a publish from button, \d+ s ago: lease #2/, arrange: async () => {
    const { app, fields } = await drivenPublish(400);
    await accepted(deskOf(pool), app);
    return fields;
  } },
  { action: 'clear_lock', code: 'reclaimed', when: 'another worker drives it on', says: /taken anew since you looked by worker-2 \(v2\), \d+ s ago: lease #2, held by worker-2 \(v2\)/, arrange: async () => {
    const { id, fields } = await drivenPublish(400);
    await expire(pool, deployments, id);
    await claim(pool, deployments, bob, id);
    return fields;
  } },

  { action: 'reset_sources', code: 'analysis_running', when: 'the customer has started an analysis', says: /An analysis of this session \([0-9a-f-]{36}\) is waiting or running.*cancel it first/, arrange: async () => {
    const source = await insertDocument(pool);
    await insertRow(pool, 'session_sources', { user_id: 'user-1', session_id: 'session-1', document_id: source.id, linked_by: 'parse_item' });
    await newAnalysis(pool, { userId: 'user-1', sessionId: 'session-1', thesis: source.id });
    return { userId: 'user-1', sessionId: 'session-1' };
  } },
  { action: 'reset_sources', code: 'already_reset', when: 'someone has reset it', says: /Nothing is linked in this session: it was reset by ada, \d+ s ago/, arrange: async () => {
    const { jobId } = await item();
    const { rows } = await pool.query<{ user_id: string }>('select user_id from parse_jobs where id = $1', [jobId]);
    const fields = { userId: rows[0]!.user_id, sessionId: 'session-1' };
    await byAda('reset_sources', fields);
    return fields;
  } },

  ...(['drain', 'resume'] as const).flatMap((action): Case[] => [
    { action, code: 'gone', when: 'the worker has stopped', says: /worker-1 \(v1\) is gone: it has stopped/, arrange: async () => {
      await pool.query(`update workers set stopped_at = now(), draining_since = now(), drained_by = 'shutdown' where id = $1`, [alice.workerId]);
      return { worker: alice.workerId };
    } },
    { action, code: 'gone', when: 'the worker has fallen silent', says: /worker-1 \(v1\) is gone: its last beat was 5 m ago/, arrange: async () => {
      await pool.query(`update workers set heartbeat_at = now() - interval '5 minutes' where id = $1`, [alice.workerId]);
      return { worker: alice.workerId };
    } },
    { action, code: 'shutting_down', when: 'the worker is being stopped', says: /worker-1 \(v1\) is shutting down already/, arrange: async () => {
      await pool.query(`update workers set draining_since = now(), drained_by = 'shutdown' where id = $1`, [alice.workerId]);
      return { worker: alice.workerId };
    } },
    { action, code: 'serves_pages', when: 'it is a web process', says: /web-1 \(v1\) only serves pages and takes no work\. .* with the role inline/, arrange: async () => {
      const web = await insertWorker(pool, { label: 'web-1', version: 'v1', role: 'web', capabilities: [], slots: 0 });
      return { worker: web.id };
    } },
  ]),
  { action: 'drain', code: 'already_draining', when: 'someone has drained it', says: /worker-1 \(v1\) is draining already by ada, \d+ s ago/, arrange: async () => {
    await byAda('drain', { worker: alice.workerId });
    return { worker: alice.workerId };
  } },
  { action: 'resume', code: 'not_draining', when: 'someone has resumed it', says: /worker-1 \(v1\) is not draining: it was resumed by ada, \d+ s ago/, arrange: async () => {
    await byAda('drain', { worker: alice.workerId });
    await byAda('resume', { worker: alice.workerId });
    return { worker: alice.workerId };
  } },

  { action: 'pause_queue', code: 'already_paused', when: 'someone has paused it', says: /paused by ada, \d+ s ago \(“a test”\)/, arrange: async () => {
    await byAda('pause_queue', { queue: 'citations' });
    return { queue: 'citations' };
  } },
  { action: 'resume_queue', code: 'already_running', when: 'someone has resumed it', says: /not paused: it was resumed by ada, \d+ s ago/, arrange: async () => {
    await byAda('pause_queue', { queue: 'citations' });
    await byAda('resume_queue', { queue: 'citations' });
    return { queue: 'citations' };
  } },

  { action: 'erase_user', code: 'work_running', when: 'the user has uploaded something', says: /still waiting or running\. Nothing was erased; wait until it has ended, or cancel it first/, arrange: async () => {
    await insertDocument(pool, { user_id: 'eve' });
    await newJob(pool, 1, { userId: 'eve' });
    return { userId: 'eve' };
  } },
  { action: 'erase_user', code: 'already_erased', when: 'someone has erased the user', says: /no data of this user: it was erased by ada, \d+ s ago/, arrange: async () => {
    await insertDocument(pool, { user_id: 'eve' });
    await byAda('erase_user', { userId: 'eve' });
    return { userId: 'eve' };
  } },
];

describe.each(cases)('$action is refused with $code', ({ action, code, when, says, arrange }) => {
  test(`when ${when} between page and press`, async () => {
    const fields = await arrange();
    expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
    const before = await picture(pool);
    const hinted = desk.hinted.length;
    const attemptId = uuidv7();
    const answer = await press(desk, action, fields, { attemptId });
    expect(answer).toMatchObject({ outcome: 'refused', code, text: expect.stringMatching(says) });
    expect(answer.text).toMatch(/Nothing was (changed|erased)/);
    expect(await picture(pool)).toEqual(before);
    expect(desk.hinted).toHaveLength(hinted);
    const { rows } = await pool.query('select actor_name, action, outcome, refusal, answer, after, reason from operator_actions where attempt_id = $1', [attemptId]);
    expect(rows).toEqual([{ actor_name: 'grace', action, outcome: 'refused', refusal: code, answer: answer.text, after: answer.now, reason: 'a test' }]);
  });
});

test('every way in which an action of the table can be refused has its stale page here', () => {
  const tested = cases.map(({ action, code }) => `${action} ${code}`);
  const guarded = [...new Set<string>(cases.map(({ action }) => action))];
  expect(guarded.sort()).toEqual(['cancel', 'clear_lock', 'drain', 'erase_user', 'force_release', 'pause_queue', 'rekick', 'release', 'reset_sources', 'resume', 'resume_queue']);
  const declared = actions.filter(({ name }) => guarded.includes(name)).flatMap(({ name, refusals }) => Object.keys(refusals).map((code) => `${name} ${code}`));
  expect(declared.filter((one) => !tested.includes(one))).toEqual([]);
});
