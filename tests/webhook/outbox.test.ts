import { beforeAll, beforeEach, expect, test } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../server/db/connection.js';
import { giveUp, noteWell, putBack, resume, settleAway, settleRefused, settleSent, takeMessage, type Outgoing } from '../../server/webhook/outbox.js';
import { someoneWaits } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { clear, pass } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database));

async function insert(key: string): Promise<string> {
  const id = uuidv7();
  await database.pool.query(`insert into webhook_messages (id, attention_key, event, body) values ($1, $2, 'attention.began', '{}')`, [id, key]);
  return id;
}
const take = () => takeMessage(database.pool, 20);
const state = async () => (await database.pool.query(`select failing_since is not null as failing, failures, last_failure, last_sent_at is not null as well, sent_total::int as sent, failed_total::int as failed, given_up_total::int as lost from webhook`)).rows[0];
const away = { trouble: 'answered 503', restMs: 60_000, doubtful: false };

test('of many that want it at once exactly one gets a message, in the order of their making', async () => {
  const ids = [await insert('a'), await insert('b')];
  const got = await Promise.all(Array.from({ length: 10 }, take));
  expect(got.filter((one) => one !== null).map(({ id }) => id).sort()).toEqual([...ids].sort());
});

test('of one trouble the end waits for its beginning; other troubles do not', async () => {
  const [first, second, other] = [await insert('a'), await insert('a'), await insert('b')];
  const begun = await take();
  expect([begun!.id, (await take())!.id, await take()]).toEqual([first, other, null]);
  await settleSent(database.pool, begun!);
  expect((await take())!.id).toBe(second);
});

test('a sender that died is followed when its time is over, and writes nothing when it wakes up', async () => {
  const id = await insert('a');
  const dead = await take();
  await pass(database, 19);
  expect(await take()).toBeNull();
  await pass(database, 2);
  const next = await take();
  expect([next!.id, Number(next!.token)]).toEqual([id, Number(dead!.token) + 1]);
  expect(await settleAway(database.pool, dead!, away)).toBe(false);
  await noteWell(database.pool);
  expect(await settleSent(database.pool, next!)).toBe(true);
  expect(await settleSent(database.pool, dead!)).toBe(false);
  expect(await take()).toBeNull();
});

test('what a dead sender may have sent stays in doubt, whatever the next one is answered', async () => {
  await insert('a');
  await take();
  await pass(database, 21);
  await settleAway(database.pool, (await take())!, away);
  expect((await database.pool.query('select doubted from webhook_messages')).rows).toEqual([{ doubted: true }]);
});

test('the end waits for a beginning that was withdrawn in mid-call, for as long as its sender may live', async () => {
  const begun = await insert('a');
  await take();
  await database.pool.query('update webhook_messages set withdrawn_at = now() where id = $1', [begun]);
  const end = await insert('a');
  expect(await take()).toBeNull();
  await pass(database, 21);
  expect((await take())!.id).toBe(end);
});

test('a sender that is being stopped puts its message back for another at once', async () => {
  await insert('a');
  await putBack(database.pool, (await take())!);
  expect((await database.pool.query('select doubted from webhook_messages')).rows).toEqual([{ doubted: true }]);
  expect(await take()).not.toBeNull();
});

test('while the receiver is away everything rests, then one success makes all well', async () => {
  await insert('a');
  await insert('b');
  await settleAway(database.pool, (await take())!, away);
  expect([await take(), await state()]).toEqual([null, { failing: true, failures: 1, last_failure: 'answered 503', well: false, sent: 0, failed: 1, lost: 0 }]);
  await pass(database, 61);
  const again = await take();
  expect(again!.failures).toBe(1);
  await settleSent(database.pool, again!);
  expect(await state()).toMatchObject({ failing: false, failures: 0, well: true, sent: 1, failed: 1 });
});

test('a message that is refused waits alone', async () => {
  const refused = await insert('a');
  const other = await insert('b');
  await settleRefused(database.pool, (await take())!, { trouble: 'refused with 404', restMs: 900_000 });
  expect([(await take())!.id, await take()]).toEqual([other, null]);
  await resume(database.pool);
  expect((await take())!.id).toBe(refused);
});

test('what becomes of a message is written down in the order of a look, the webhook\'s row first: neither ever waits for the other', async () => {
  const sending = async () => (await take())!;
  for (const [writes, prepare] of [
    [() => giveUp(database.pool, 90), () => pass(database, 100)],
    [(message) => settleSent(database.pool, message!), sending],
    [(message) => settleAway(database.pool, message!, away), sending],
    [(message) => settleRefused(database.pool, message!, away), sending],
    [() => resume(database.pool), async () => { await settleRefused(database.pool, await sending(), away); }],
  ] satisfies [(message: Outgoing | void) => Promise<unknown>, () => Promise<Outgoing | void>][]) {
    await clear(database);
    await insert('a');
    const message = await prepare();
    let written: Promise<unknown> | undefined;
    await inTransaction(database.pool, async (look) => {
      await look.query('update webhook set recorded = recorded + 1');
      written = writes(message);
      await until(() => someoneWaits(database.pool));
      await look.query('select 1 from webhook_attention for update nowait');
      expect((await look.query('select 1 from webhook_messages for update nowait')).rowCount).toBe(1);
    });
    expect(await written).not.toBe(false);
  }
});

test('what waited too long is given up and counted; what is being sent is not', async () => {
  await insert('a');
  await insert('b');
  await pass(database, 100);
  const sending = await take();
  expect([await giveUp(database.pool, 200), await giveUp(database.pool, 90), await giveUp(database.pool, 90)]).toEqual([0, 1, 0]);
  expect(await settleSent(database.pool, sending!)).toBe(true);
  expect(await state()).toMatchObject({ lost: 1, sent: 1 });
});
