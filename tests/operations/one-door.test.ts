// What holds of every action, whatever it does: one effect for two who press at once and for one who presses twice, nothing without its audit row,
// nothing from a card that is only looked at, and no success without a row that was changed. LEASEBOARD_LONG=1 presses 200 times at once.
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkInvariants } from '../../server/lease/invariants.js';
import { actionByName, actions } from '../../server/operations/actions.js';
import { preflight } from '../../server/operations/operate.js';
import { invariantSettings } from '../lease/world.js';
import { testDatabase } from '../support/database.js';
import { guarded, possible } from './possible.js';
import { ada, auditOf, clearAll, grace, openDesk, picture, press, registerWorkers, type AuditRow, type Desk } from './world.js';

const ROUNDS = process.env.LEASEBOARD_LONG ? 200 : 3;

let desk: Desk;
let pool: pg.Pool;
beforeAll(async () => {
  const db = await testDatabase();
  pool = db.createPool({ max: 8 });
  desk = openDesk(db, pool);
  await registerWorkers(pool);
});

const targetOf = (name: string, fields: Record<string, unknown>) => {
  const action = actionByName(name)!;
  return action.target(action.fields.parse(fields)).id;
};
const tables = possible(() => desk);

describe.each(tables)('$action of $target', ({ action, arrange }) => {
  test(`by two at once, ${ROUNDS} times: one effect, two rows in the audit, the second told who was first`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 20 === 0) await clearAll(pool);
      const fields = await arrange();
      const attempts = [uuidv7(), uuidv7()];
      const answers = await Promise.all([ada, grace].map((actor, n) => press(desk, action, fields, { actor, attemptId: attempts[n]! })));
      const first = answers.findIndex(({ outcome }) => outcome === 'applied');
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['applied', 'refused']);
      expect(answers[1 - first]!.text).toContain([ada, grace][first]!.name);
      const { rows } = await pool.query<AuditRow>('select * from operator_actions where attempt_id = any ($1)', [attempts]);
      expect(rows.map((row) => [row.actor_name, row.outcome, row.answer]).sort()).toEqual([ada, grace].map(({ name }, n) => [name, answers[n]!.outcome, answers[n]!.text]).sort());
    }
    expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
  }, ROUNDS * 10_000);

  test('pressed twice at once, and once more later, acts once and gives one answer', async () => {
    const fields = await arrange();
    const attemptId = uuidv7();
    const [one, two] = await Promise.all([press(desk, action, fields, { attemptId }), press(desk, action, fields, { attemptId })]);
    const after = await picture(pool);
    const three = await press(desk, action, fields, { attemptId });
    expect(await picture(pool)).toEqual(after);
    expect([one.repeated, two.repeated].filter(Boolean)).toEqual([true]);
    for (const answer of [one, two, three]) expect(answer).toMatchObject({ outcome: 'applied', code: null, text: one.text });
    expect((await pool.query('select 1 from operator_actions where attempt_id = $1', [attemptId])).rowCount).toBe(1);
  });

  test('is not done when it cannot be written down', async () => {
    const fields = await arrange();
    const before = await picture(pool);
    const hinted = desk.hinted.length;
    await pool.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no audit today'; end $$; create trigger refuse before insert on operator_actions for each row execute function refuse()`);
    try {
      await expect(press(desk, action, fields)).rejects.toThrow('no audit today');
    } finally {
      await pool.query('drop trigger refuse on operator_actions; drop function refuse');
    }
    expect(await picture(pool)).toEqual(before);
    expect(desk.hinted).toHaveLength(hinted);
  });

  test('is shown as possible by its card, which changes and records nothing', async () => {
    const fields = await arrange();
    const before = await picture(pool);
    const recorded = await pool.query('select count(*)::int as n from operator_actions');
    expect(await preflight(desk.world, actionByName(action)!, { actor: grace, fields })).toMatchObject({ possible: true });
    expect(await picture(pool)).toEqual(before);
    expect((await pool.query('select count(*)::int as n from operator_actions')).rows).toEqual(recorded.rows);
    expect(await press(desk, action, fields)).toMatchObject({ outcome: 'applied' });
  });

  test('is refused on a target that does not exist, and changes nothing', async () => {
    const fields = await arrange();
    const absent = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, name === 'id' ? uuidv7() : ['worker', 'userId', 'sessionId'].includes(name) ? `no-${uuidv7()}` : value]));
    if (JSON.stringify(absent) === JSON.stringify(fields)) return; // a queue always exists
    const before = await picture(pool);
    expect(await press(desk, action, absent)).toMatchObject({ outcome: 'refused', code: 'not_found', now: null });
    expect(await picture(pool)).toEqual(before);
    expect((await auditOf(pool, targetOf(action, absent))).map(({ refusal }) => refusal)).toEqual(['not_found']);
  });

  test('is refused once it is done, and changes nothing more', async () => {
    const fields = await arrange();
    expect(await press(desk, action, fields)).toMatchObject({ outcome: 'applied' });
    const before = await picture(pool);
    expect(await press(desk, action, fields)).toMatchObject({ outcome: 'refused' });
    expect(await picture(pool)).toEqual(before);
  });
});

test('whoever may not, gives no reason or confirms wrongly is refused by every action, on record', async () => {
  for (const name of guarded) {
    const { permission, confirmation } = actionByName(name)!;
    await clearAll(pool);
    const { arrange } = tables.find((one) => one.action === name)!;
    const fields = await arrange();
    const before = await picture(pool);
    const below = permission === 'admin' ? 'operator' : 'viewer';
    const codes = [
      (await press(desk, name, fields, { actor: { ...ada, role: below } })).code,
      (await press(desk, name, fields, { reason: ' ' })).code,
      (await press(desk, name, fields, { reason: 'x'.repeat(501) })).code,
      ...(confirmation ? [(await press(desk, name, fields, { confirmation: 'yes' })).code] : []),
    ];
    expect(codes).toEqual(['not_allowed', 'reason_required', 'invalid_input', ...(confirmation ? ['confirmation_mismatch'] : [])]);
    expect(await picture(pool)).toEqual(before);
    expect((await auditOf(pool, targetOf(name, fields))).map((row) => row.refusal).filter((code) => code !== null)).toEqual(codes);
  }
});

test('a read-only console refuses everyone but the command line', async () => {
  const fields = { queue: 'parse-jobs' };
  const readOnly: Desk = { ...desk, world: { ...desk.world, config: { ...desk.world.config, readOnly: true } } };
  expect(await press(readOnly, 'pause_queue', fields)).toMatchObject({ outcome: 'refused', code: 'read_only' });
  expect(await press(readOnly, 'pause_queue', fields, { actor: { kind: 'cli', id: null, name: 'ops', role: 'admin' }, via: 'cli' })).toMatchObject({ outcome: 'applied' });
});

test('the actions of the table need the role that the table says', () => {
  const admin = ['clear_lock', 'erase_user', 'force_release', 'reset_sources'];
  expect(guarded.filter((name) => actionByName(name)!.permission === 'admin').sort()).toEqual(admin);
  expect(guarded.filter((name) => actionByName(name)!.permission === 'operator')).toHaveLength(guarded.length - admin.length);
  expect(guarded.filter((name) => actionByName(name)!.confirmation).sort()).toEqual(['erase_user', 'force_release', 'reset_sources']);
  for (const { name, guard, consequence } of actions) expect([name, guard, consequence].every((text) => text.length > 2)).toBe(true);
});
