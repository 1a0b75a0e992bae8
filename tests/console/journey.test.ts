import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { actionWords, nextWords, stageLines, whichWords } from '~/format/journey';
import { journeyOptions } from '../../server/console/journey-options.js';
import { readJourney, type JourneyOptions } from '../../server/console/journey.js';
import { createKysely } from '../../server/db/kysely.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertRow } from '../support/factories.js';
import type { JourneyWorld } from './journey-world.js';
import { ago, failed, journeyWorld, SESSION, stale, USER } from './journey-world.js';

let database: TestDatabase;
let world: JourneyWorld;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  world = journeyWorld(database.pool);
  kysely = createKysely(database.pool);
});
beforeEach(() => world.clear());

const read = async (analysisId?: string, options?: JourneyOptions) => (await readJourney(kysely, { userId: USER, sessionId: SESSION, analysisId }, options))!;
const line = (view: Awaited<ReturnType<typeof read>>, name: string) => stageLines(view).find((each) => each.name === name)!;
const done = { state: 'succeeded' as const };

describe('a journey', () => {
  test('tells of each stage who is at it, how long it waited and how long it was worked on', async () => {
    const worker = await world.worker({ label: 'worker-b', version: 'v44' });
    await world.upload([{ ...done, claimed_at: ago('9 minutes'), finished_at: ago('8 minutes') }, { ...done, claimed_at: ago('8 minutes 30 seconds'), finished_at: ago('7 minutes') }], { claimed_at: ago('7 minutes'), finished_at: ago('6 minutes 30 seconds') });
    await world.link(2);
    await world.checking([done, { state: 'running', worker_id: worker.id }, { state: 'running', worker_id: worker.id }, {}], { created_at: ago('6 minutes'), claimed_at: ago('5 minutes 20 seconds'), pinned_documents: [uuidv7(), uuidv7()] });
    const view = await read();
    expect(stageLines(view).map(({ title, state, figure, notes }) => [title, state, figure, ...notes])).toEqual([
      ['Uploaded', 'done', '2 files', '2 sources pinned by the analysis'],
      ['Parsed', 'done', '2 of 2 files', 'waited 1 m, worked 2 m 30 s'],
      ['Claims extracted', 'done', '4 claims', '4 of 4 citation marks resolved', 'waited 40 s, worked 20 s'],
      ['Citations checked', 'running', '1 of 4', 'held by worker-b (v44) ×2', 'waited 3 m, worked 2 m'],
      ['Report ready', 'ahead', 'not yet'],
    ]);
    expect(view.next).toEqual({ what: 'lease_end', at: expect.any(Number) });
  });

  test('counts tries that failed, leases that were lost and rows that were put back, each once', async () => {
    await world.worker();
    await world.upload([{ state: 'running', lease_token: 6, attempt: 1, lost_leases: 2 }]);
    expect((await read()).stages[1]).toMatchObject({ retries: 1, lostLeases: 2, putBack: 2 });
    expect(line(await read(), 'parsed').notes.slice(-3)).toEqual(['2 lost leases', 'put back 2 times, nothing charged', '1 failed try repeated']);
  });

  test('calls a failure at the first try no retry, and a row that no counter was charged for put back', async () => {
    await world.upload([failed('no_text'), { ...done, lease_token: 1, created_at: ago('9 minutes') }]);
    expect((await read()).stages[1]).toMatchObject({ state: 'partly', retries: 0, lostLeases: 0, putBack: 0, unsuccessful: 1 });
  });

  test('says with figures that a worker beats and gets nowhere', async () => {
    await world.worker();
    await world.samples('parse_items', 2_000);
    await world.upload([{ state: 'running', claimed_at: ago('4 minutes'), progressed_at: ago('3 minutes 5 seconds') }]);
    const view = await read();
    expect(view.pace).toMatchObject({ kind: 'slow', usualMs: expect.closeTo(2_200, -3) });
    expect(line(view, 'parsed')).toMatchObject({ state: 'slow', notes: [expect.stringMatching(/^no progress for 3 m \d+ s \(usual 95th percentile 2\.\d s\), though its worker still beats$/), expect.anything(), expect.anything()] });
    expect(nextWords(view).text).toMatch(/If it hangs, release its lease/);
  });

  test('takes nothing for slow on the word of a few runs', async () => {
    await world.worker();
    await world.samples('parse_items', 2_000, 19);
    await world.upload([{ state: 'running', claimed_at: ago('4 minutes') }]);
    expect((await read()).pace).toEqual({ kind: 'moving' });
  });

  test('of a citation that hangs among others that move moves', async () => {
    await world.worker();
    await world.samples('job_citations', 2_000);
    await world.link();
    await world.checking([{ ...done, finished_at: ago('1 second') }, { state: 'running', claimed_at: ago('4 minutes') }]);
    expect((await read()).pace).toEqual({ kind: 'moving' });
  });

  test.each([
    ['the lease ends', { build: () => world.upload([{ state: 'running' }]), what: 'lease_end', inSeconds: 60 }],
    ['the sweep', { build: () => world.upload([stale]), what: 'sweep', inSeconds: 20 }],
    ['the next try', { build: () => world.upload([{ attempt: 1, lease_token: 1, error_code: 'internal', run_after: ago('-42 seconds') }]), what: 'retry', inSeconds: 42 }],
    ['the poll', { build: () => world.upload([{}]), what: 'poll', inSeconds: 5 }],
    ['a look at the uploads', { build: () => world.link().then(() => world.asked({ run_after: ago('-4 seconds') })), what: 'look_again', inSeconds: 4 }],
  ] as const)('says when %s comes next', async (_what, { build, what, inSeconds }) => {
    await world.worker();
    await build();
    const { next, asOf } = await read();
    expect(next.what).toBe(what);
    expect(Math.round((next.at! - asOf) / 1000)).toBe(inSeconds);
  });

  test('waits behind what the queue offers first, and not behind what came later or is not due', async () => {
    await world.worker();
    await world.upload([{ run_after: ago('5 minutes') }]);
    await world.otherUpload(2);   // twenty minutes ago
    expect((await read()).pace).toEqual({ kind: 'queued', ahead: 2 });
    await database.pool.query(`update parse_items set run_after = now() - interval '1 minute' where user_id = 'other'`);
    expect((await read()).pace).toEqual({ kind: 'queued', ahead: 0 });
  });

  test('leads to the latest analysis unless another is asked for, and says how many there are', async () => {
    await world.link();
    const first = await world.checking([done], { state: 'succeeded', finished_at: ago('3 minutes') });
    const second = await world.checking([done, {}], {});
    const view = await read();
    expect([view.analysis!.id, view.others.analyses, whichWords(view)]).toEqual([second.id, 1, 'The latest of 2 analyses of this session.']);
    expect((await read(first.id)).analysis!.id).toBe(first.id);
    expect((await read(first.id)).situation).toBe('finished');
  });

  test('has only files in it that were there when the claims were read, and no file twice', async () => {
    await world.worker();
    await world.upload([{ ...failed('password_required'), filename: 'a.pdf', created_at: ago('20 minutes') }], { created_at: ago('20 minutes'), finished_at: ago('19 minutes') });
    await world.upload([{ ...done, filename: 'a.pdf' }, { ...done, filename: 'b.pdf' }], { finished_at: ago('7 minutes') });
    await world.link(2);
    await world.checking([done, { state: 'running' }]);
    await world.upload([{ filename: 'c.pdf', created_at: ago('1 minute') }], { created_at: ago('1 minute') });
    const view = await read();
    expect([view.step, view.stages[1]!.total, view.stages[1]!.done, view.failures, view.others.laterFiles]).toEqual(['checks', 2, 2, [], 1]);
  });

  test('names the files that could not be read, for whoever serves the customer', async () => {
    await world.upload([{ ...failed('no_text'), filename: 'scan.pdf' }, done]);
    const { failures, answer } = await read();
    expect(failures).toEqual([{ id: expect.any(String), filename: 'scan.pdf', code: 'no_text' }]);
    expect(JSON.stringify(answer)).not.toContain('scan.pdf');
  });

  test('counts each redeploy once that an upload or the analysis lived through', async () => {
    await world.worker();
    await world.redeploy();
    await world.redeploy({ role: 'web', started_at: ago('2 minutes'), ended_at: null });
    await world.redeploy({ started_at: ago('3 hours'), ended_at: ago('2 hours') });
    await world.upload([done], { finished_at: ago('2 minutes 30 seconds') });
    await world.link();
    await world.checking([done, {}]);
    expect((await read()).redeploys.map(({ role }) => role)).toEqual(['worker', 'web']);
  });

  test('shows what operators did to any of its rows or to its session, and took effect', async () => {
    await world.worker();
    await world.upload([{ state: 'running' }]);
    await world.link();
    await world.checking([{ state: 'running' }]);
    const of = async (table: string) => (await database.pool.query<{ id: string }>(`select id from ${table} where user_id = $1`, [USER])).rows[0]!.id;
    const act = (action: string, values: Record<string, unknown>) => insertRow(database.pool, 'operator_actions', {
      attempt_id: uuidv7(), actor_kind: 'operator', actor_name: 'Ada', actor_role: 'operator', via: 'page', action, target_kind: 'row', target_id: 'x', reason: 'the customer waits', outcome: 'applied', answer: 'Done.', ...values });
    await act('release', { row_id: await of('parse_items') });
    await act('rekick', { row_id: await of('job_citations') });
    await act('cancel', { row_id: await of('analysis_jobs'), outcome: 'refused', refusal: 'finished' });
    await act('reset_sources', { target_kind: 'session', target_id: SESSION, user_id: USER });
    await act('reset_sources', { target_kind: 'session', target_id: SESSION, user_id: 'someone-else' });
    await act('release', { row_id: uuidv7() });
    const { actions } = await read();
    expect(actions.map(({ action, actor, reason }) => [actionWords(action), actor, reason])).toEqual([['Sources reset', 'Ada', 'the customer waits'], ['Queued again', 'Ada', 'the customer waits'], ['Lease released', 'Ada', 'the customer waits']]);
  });

  test('knows a cap on one user from a crowd of others', async () => {
    await world.worker();
    await world.ownChecks(2);
    await world.otherChecks(3);
    await world.link();
    await world.checking([{}]);
    expect((await read()).pace).toEqual({ kind: 'queued', ahead: 3 });
    expect((await read(undefined, { userCap: 2 })).pace).toEqual({ kind: 'own_turn' });
  });
});

describe('nobody else\'s journey', () => {
  test('can be read: not by another user of the same session id, not by the id of an analysis', async () => {
    await world.link();
    const { id } = await world.checking([done, {}]);
    const foreign = { userId: 'someone-else', sessionId: SESSION };
    expect(await readJourney(kysely, foreign)).toBeNull();
    expect(await readJourney(kysely, { ...foreign, analysisId: id })).toBeNull();
    expect(await readJourney(kysely, { userId: USER, sessionId: 'another', analysisId: id })).toBeNull();
  });

  test('is in it: no text of a document, no id of another user', async () => {
    await world.worker();
    await world.otherChecks(2);
    await world.link();
    await world.checking([done, {}]);
    expect(JSON.stringify(await read())).not.toMatch(/secret|ten letter|other-\d/i);
  });
});

test('a zone comes in by name, and one that does not exist is UTC', async () => {
  await world.link();
  await world.checking([done], { state: 'succeeded', created_at: new Date('2026-11-29T13:00:00Z'), finished_at: new Date('2026-11-29T14:02:31Z') });
  const zoned = async (query: string) => (await read(undefined, journeyOptions(database.config(), new URLSearchParams(query)))).answer.en;
  expect(await zoned('zone=Europe/Berlin')).toBe('Your report was finished on 29 November 2026 at 15:02 CET.');
  expect(await zoned('zone=Mars')).toBe('Your report was finished on 29 November 2026 at 14:02 UTC.');
});
