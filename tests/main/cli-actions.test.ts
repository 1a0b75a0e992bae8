import os from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertRow, insertWorker, sql } from '../support/factories.js';
import { startProcess } from '../support/processes.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

async function leaseboard(...args: string[]) {
  const run = startProcess('server/main/cli.js', { DATABASE_URL: database.url }, { args });
  const { code } = await run.ended;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

const stale = () => insertParseItem(database.pool, { state: 'running', lease_token: 7, worker_id: 'w-dead', heartbeat_at: sql(`now() - interval '5 minutes'`), lease_expires_at: sql(`now() - interval '3 minutes'`) });
const me = os.userInfo().username;

// Each command is a process of its own.
describe('npx leaseboard act', { timeout: 120_000 }, () => {
  it('releases a stale lease under the token that it looked up, says so, and is in the audit under the name of whoever sits there', async () => {
    const item = await stale();
    expect(await leaseboard('act', 'release', 'parse-items', item.id, '--reason', 'the host is gone')).toEqual({
      code: 0, stdout: 'Released the stale lease #7 of w-dead; the row is queued again.\n', stderr: 'It is running, lease #7, held by w-dead.\n',
    });
    const { rows } = await database.pool.query('select actor_kind, actor_name, actor_role, via, reason, outcome from operator_actions where row_id = $1', [item.id]);
    expect(rows).toEqual([{ actor_kind: 'cli', actor_name: me, actor_role: 'admin', via: 'cli', reason: 'the host is gone', outcome: 'applied' }]);
  });

  it('ends with 1 and says what is true now when it is refused', async () => {
    const item = await insertParseItem(database.pool, { state: 'running', lease_token: 3 });
    const refused = await leaseboard('act', 'release', 'parse-items', item.id, '--token', '3', '--reason', 'r');
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^The lease is valid for another .*Nothing was changed/) });
    expect(await leaseboard('act', 'cancel', 'parse-itms', item.id, '--reason', 'r')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no queue of this name') });
    expect(await leaseboard('act', 'release', 'parse-items', 'nonsense', '--reason', 'r')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/id: .*Nothing was changed; correct it and try again/) });
    expect((await database.pool.query('select state from parse_items where id = $1', [item.id])).rows).toEqual([{ state: 'running' }]);
  });

  it('wants a reason, and --yes for what cannot be taken back', async () => {
    const item = await insertParseItem(database.pool, { state: 'running', lease_token: 3 });
    expect(await leaseboard('act', 'cancel', 'parse-items', item.id)).toMatchObject({ code: 1, stderr: expect.stringContaining("required option '--reason <text>'") });
    const unconfirmed = await leaseboard('act', 'force-release', 'parse-items', item.id, '--reason', 'r');
    expect(unconfirmed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Nothing was changed; add --yes if that is meant.') });
    expect(await leaseboard('act', 'force-release', 'parse-items', item.id, '--reason', 'r', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('by force') });
  });

  it('has a verb for every action of the table', async () => {
    const worker = await insertWorker(database.pool, { label: 'worker-7' });
    const queued = await insertParseItem(database.pool, { user_id: 'eve', run_after: sql(`now() + interval '1 hour'`), job_id: (await insertRow<{ id: string }>(database.pool, 'parse_jobs', { id: '01900000-0000-7000-8000-000000000001', user_id: 'eve', session_id: 'session-1', open_children: 1, total_children: 1, state: 'awaiting' })).id });
    const source = await insertDocument(database.pool, { user_id: 'eve' });
    await insertRow(database.pool, 'session_sources', { user_id: 'eve', session_id: 'session-1', document_id: source.id, linked_by: 'upload' });
    const said: string[] = [];
    for (const args of [
      ['drain', 'worker-7'], ['resume', worker.id], ['pause', 'parse-items'], ['unpause', 'parse-items'], ['rekick', 'parse-items', queued.id], ['cancel', 'parse-items', queued.id],
      ['reset-sources', 'eve', 'session-1', '--yes'], ['erase-user', 'eve', '--yes'],
    ]) {
      const { code, stdout, stderr } = await leaseboard('act', ...args, '--reason', 'r');
      said.push(`${code} ${stdout || stderr}`.trim());
    }
    expect(said).toEqual([
      '0 Drained worker-7 (dev), which held 0 leases.', '0 Resumed worker-7 (dev).', '0 Paused parse items.', expect.stringMatching(/^0 Resumed parse items, paused for \d+ s\.$/),
      '0 Offered it to the workers again.', '0 Cancelled it.', '0 Unlinked 1 source of the session; 1 upload under way or failed will not link any.',
      "0 Erased the user's data: 1 documents (2 chunks), 1 uploads (1 files), 0 analyses (0 citations).",
    ]);
  });

  it('says in its list what each verb does, and in the help of one what it does and when', async () => {
    expect((await leaseboard('act', '--help')).stdout).toMatch(/drain \[options\] <worker> +It gives back what it holds, .* until it is resumed or stopped\.$/m);
    expect((await leaseboard('act', 'drain', '--help')).stdout.replace(/\s+/g, ' ')).toContain('A web process that worked inline goes on serving. Only a worker that beats and is not draining.');
  });

  it('clears a stuck publish lock', async () => {
    const id = '01900000-0000-7000-8000-000000000002';
    await insertRow(database.pool, 'deployments', { id, project_id: 'p', slug: 'app', user_id: 'u', requested_by: 'tab', state: 'building', heartbeat_at: sql(`now() - interval '10 minutes'`) });
    expect(await leaseboard('act', 'clear-lock', id, '--reason', 'r')).toMatchObject({ code: 0, stdout: expect.stringContaining('silent for 10 m') });
  });

  it('does not guess between two workers of one label', async () => {
    await insertWorker(database.pool, { label: 'twin' });
    await insertWorker(database.pool, { label: 'twin' });
    expect(await leaseboard('act', 'drain', 'twin', '--reason', 'r')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^2 workers called twin live: w-.*name one by its id/) });
  });
});

it('npx leaseboard audit lists what was done and tried, newest first, by the filters', async () => {
  const item = await stale();
  await leaseboard('act', 'release', 'parse-items', item.id, '--reason', 'first');
  await leaseboard('act', 'release', 'parse-items', item.id, '--token', '7', '--reason', 'second');
  const { code, stdout } = await leaseboard('audit', '--target', item.id);
  expect(code).toBe(0);
  expect(stdout.trim().split('\n').slice(1).map((line) => [me, 'already_released', 'applied', 'first', 'second', item.id].filter((word) => line.includes(word)))).toEqual([[me, 'already_released', 'second', item.id], [me, 'applied', 'first', item.id]]);
  expect((await leaseboard('audit', '--target', item.id, '--outcome', 'applied', '--limit', '1')).stdout.trim().split('\n')).toHaveLength(2);
  expect(await leaseboard('audit', '--limit', 'many')).toMatchObject({ code: 1 });
}, 120_000);

it('npx leaseboard retention run prunes what is older than its setting; with nothing to prune it says so and is content', async () => {
  const item = await insertParseItem(database.pool);
  await database.pool.query(`insert into queue_events (queue, row_id, cause, at) values ('parse_items', $1, 'enqueue', now() - interval '91 days')`, [item.id]);
  await database.pool.query(`delete from queue_events where at > now() - interval '1 day'`); // ids ascend with time
  expect(await leaseboard('retention', 'run')).toMatchObject({ code: 0, stdout: 'Pruned 1 transitions older than 90 days and 0 minute samples older than 400 days.\n' });
  expect(await leaseboard('retention', 'run')).toMatchObject({ code: 0, stdout: expect.stringContaining('No transition is older than 90 days') });
}, 120_000);
