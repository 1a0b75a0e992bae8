import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../server/operations/action.js';
import { actionByName } from '../../server/operations/actions.js';
import { operate, preflight, type OperationsWorld } from '../../server/operations/operate.js';
import { createLogger } from '../../server/log.js';
import { factsOf } from '~/format/action-words';
import { insertParseItem, insertWorker, sql } from '../support/factories.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;
let world: OperationsWorld;
const hinted: string[] = [];
const ada: Actor = { kind: 'operator', id: uuidv7(), name: 'ada', role: 'operator' };

beforeAll(async () => {
  db = await testDatabase();
  world = { pool: db.pool, config: db.config(), hints: { changed: (_table, ids) => hinted.push(...ids) }, log: createLogger({ level: 'silent', name: 'test' }) };
});

const staleItem = () => insertParseItem(db.pool, { state: 'running', lease_token: 7, worker_id: 'w-dead', heartbeat_at: sql(`now() - interval '5 minutes'`), lease_expires_at: sql(`now() - interval '3 minutes'`) });
const audit = async (id: string) => (await db.pool.query('select actor_name, outcome, refusal, reason, before, after from operator_actions where row_id = $1 order by id', [id])).rows;

test('a stale lease is released once, with its audit row, and the second press of the same button is told the first answer', async () => {
  const item = await staleItem();
  const request = { actor: ada, via: 'page' as const, fields: { queue: 'parse-items', id: item.id, token: '7' }, reason: 'the worker is dead', attemptId: uuidv7() };
  const first = await operate(world, actionByName('release')!, request);
  const second = await operate(world, actionByName('release')!, request);
  expect(first).toMatchObject({ outcome: 'applied', code: null });
  expect(second).toEqual({ ...first, now: first.now, repeated: true });
  expect(hinted).toContain(item.id);
  const { rows } = await db.pool.query('select state, worker_id, lease_token, attempt from parse_items where id = $1', [item.id]);
  expect(rows).toEqual([{ state: 'queued', worker_id: null, lease_token: '7', attempt: 0 }]);
  expect(await audit(item.id)).toEqual([expect.objectContaining({ actor_name: 'ada', outcome: 'applied', refusal: null, reason: 'the worker is dead', after: expect.objectContaining({ state: 'queued' }) })]);
});

test('a live lease is not released, and the refusal says until when and is recorded', async () => {
  const worker = await insertWorker(db.pool, { label: 'worker-2', version: 'v4' });
  const item = await insertParseItem(db.pool, { state: 'running', worker_id: worker.id, lease_token: 3 });
  const answer = await operate(world, actionByName('release')!, { actor: ada, via: 'page', fields: { queue: 'parse_items', id: item.id, token: '3' }, reason: 'it looks stuck' });
  expect(answer).toMatchObject({ outcome: 'refused', code: 'lease_valid', text: expect.stringMatching(/valid for another (59|1 m|60) ?s?.*worker-2 \(v4\) last beat/) });
  expect(await audit(item.id)).toEqual([expect.objectContaining({ outcome: 'refused', refusal: 'lease_valid' })]);
});

test('a failing audit insert leaves the row untouched', async () => {
  const item = await staleItem();
  await db.pool.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no audit today'; end $$; create trigger refuse before insert on operator_actions for each row execute function refuse()`);
  await expect(operate(world, actionByName('release')!, { actor: ada, via: 'page', fields: { queue: 'parse_items', id: item.id, token: '7' }, reason: 'r' })).rejects.toThrow('no audit today');
  await db.pool.query('drop trigger refuse on operator_actions; drop function refuse');
  const { rows } = await db.pool.query('select state, worker_id from parse_items where id = $1', [item.id]);
  expect(rows).toEqual([{ state: 'running', worker_id: 'w-dead' }]);
});

test('a role that may not, a missing reason and a wrong confirmation are refused and recorded, and nothing is changed', async () => {
  const item = await staleItem();
  const fields = { queue: 'parse_items', id: item.id, token: '7' };
  const codes = [];
  for (const [action, role, reason, confirmation] of [['release', 'viewer', 'r', ''], ['force_release', 'operator', 'r', ''], ['release', 'operator', '  ', ''], ['force_release', 'admin', 'r', 'wrong']] as const) {
    codes.push((await operate(world, actionByName(action)!, { actor: { ...ada, role }, via: 'page', fields, reason, confirmation })).code);
  }
  expect(codes).toEqual(['not_allowed', 'not_allowed', 'reason_required', 'confirmation_mismatch']);
  expect((await audit(item.id)).map((row) => row.refusal)).toEqual(codes);
});

test('the card of a drain says how many leases the worker holds', async () => {
  const worker = await insertWorker(db.pool, { label: 'worker-9', version: 'v4' });
  for (let n = 0; n < 2; n++) await insertParseItem(db.pool, { state: 'running', worker_id: worker.id });
  const request = { actor: ada, fields: { worker: worker.id } };
  const seen = await preflight(world, actionByName('drain')!, request);
  expect(factsOf(seen.possible ? seen.before : null).map(({ name, text }) => `${name}: ${text}`)).toEqual(expect.arrayContaining(['Worker: worker-9', 'Leases: 2']));
  const answer = await operate(world, actionByName('drain')!, { ...request, via: 'page', reason: 'a test' });
  expect(answer.text).toMatch(/which held 2 leases\./);
});

test('the card runs the very statement and leaves nothing behind', async () => {
  const item = await staleItem();
  const seen = await preflight(world, actionByName('release')!, { actor: ada, fields: { queue: 'parse_items', id: item.id, token: '7' } });
  expect(seen).toMatchObject({ possible: true, before: { state: 'running', token: '7' }, after: { state: 'queued' } });
  expect(await audit(item.id)).toEqual([]);
  expect((await db.pool.query('select state from parse_items where id = $1', [item.id])).rows).toEqual([{ state: 'running' }]);
});
