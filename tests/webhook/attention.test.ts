import { beforeAll, beforeEach, expect, test } from 'vitest';
import { record, takeLook } from '../../server/webhook/attention.js';
import type { Message } from '../../server/webhook/message.js';
import { giveUp, settleAway, settleSent, takeMessage } from '../../server/webhook/outbox.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { clear, condition, hear, look, pace, pass } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database));

const waiting = async () => (await database.pool.query<{ event: string }>('select event from webhook_messages where sent_at is null and withdrawn_at is null and given_up_at is null order by no')).rows.map(({ event }) => event);
/** The receiver takes what waits. */
async function deliver(): Promise<void> {
  for (let message = await takeMessage(database.pool, 20); message; message = await takeMessage(database.pool, 20)) await settleSent(database.pool, message);
}
/** It stands, was told, and the receiver knows. */
async function told(key: string): Promise<Record<string, any>> {
  await look(database, [key]);
  await pass(database, 61);
  const [body] = await look(database, [key]);
  await deliver();
  return body!;
}

test('what stands for the grace is told once, however often it is looked at', async () => {
  expect(await look(database, ['sweeper'])).toEqual([]);
  await pass(database, 59);
  expect(await look(database, ['sweeper'])).toEqual([]);
  await pass(database, 2);
  const [body, ...more] = await look(database, ['sweeper']);
  expect(more).toEqual([]);
  expect(body).toEqual({
    event: 'attention.began', id: expect.stringMatching(/^[\da-f-]{36}$/), attentionId: expect.stringMatching(/^[\da-f-]{36}$/), kind: 'sweeper', about: null, severity: 'alarm',
    text: 'What sweeper is. What to do.', url: 'https://console.example/sweeper', beganAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), endedAt: null, seconds: 61,
  });
  for (let times = 0; times < 3; times++) {
    await pass(database, 61);
    expect(await look(database, ['sweeper'])).toEqual([]);
  }
});

test('its end is told once, after it has been gone for the grace, with how long it stood', async () => {
  const began = await told('sweeper');
  await pass(database, 59);
  expect(await look(database, ['sweeper'])).toEqual([]);
  await pass(database, 59);
  expect(await look(database, [])).toEqual([]);
  await pass(database, 2);
  const [ended, ...more] = await look(database, []);
  expect(more).toEqual([]);
  expect(ended).toMatchObject({ event: 'attention.ended', attentionId: began.attentionId, kind: 'sweeper', seconds: 120, text: 'Over after 2 m: What sweeper is.' });
  expect(ended!.id).not.toBe(began.id);
  expect(Date.parse(ended!.endedAt as string) - Date.parse(ended!.beganAt as string)).toBeCloseTo(120_000, -3);
  await pass(database, 600);
  expect(await look(database, [])).toEqual([]);
});

test('what comes and goes within the grace is never told; what goes and comes back after it was told is told of neither', async () => {
  for (let times = 0; times < 4; times++) {
    expect(await look(database, ['uncovered:parse'])).toEqual([]);
    await pass(database, 40);
    expect(await look(database, [])).toEqual([]);
    await pass(database, 10);
  }
  await told('uncovered:parse');
  for (let times = 0; times < 4; times++) {
    await pass(database, 30);
    expect(await look(database, [])).toEqual([]);
    await pass(database, 25);
    expect(await look(database, ['uncovered:parse'])).toEqual([]);
  }
});

test('while every web process is down nothing has stood: a redeploy of everything tells nobody of a worker that starts last', async () => {
  await look(database, ['uncovered:parse']);
  await pass(database, 300);
  expect(await look(database, ['uncovered:parse'])).toEqual([]);
  await pass(database, 30);
  expect(await look(database, [])).toEqual([]);
  expect((await database.pool.query('select 1 from webhook_attention')).rowCount).toBe(0);
});

test('what was told and still stands after such a downtime is not told again; what ended meanwhile is told as ended', async () => {
  await told('sweeper');
  await pass(database, 3_600);
  expect(await look(database, ['sweeper'])).toEqual([]);
  await pass(database, 3_600);
  expect(await look(database, [])).toMatchObject([{ event: 'attention.ended' }]);
});

test('a beginning that nobody took is withdrawn with its trouble, and no end is told', async () => {
  await look(database, ['sweeper']);
  await pass(database, 61);
  await look(database, ['sweeper']);
  const first = await takeMessage(database.pool, 20);
  await settleAway(database.pool, first!, { trouble: 'answered 503', restMs: 1, doubtful: false });
  await pass(database, 61);
  expect(await look(database, [])).toEqual([]);
  expect(await waiting()).toEqual([]);
  expect(await takeMessage(database.pool, 20)).toBeNull();
});

test('one that the receiver may have (it hung; its sender died) is followed by its end', async () => {
  for (const died of [false, true]) {
    await clear(database);
    await look(database, ['sweeper']);
    await pass(database, 61);
    await look(database, ['sweeper']);
    const first = await takeMessage(database.pool, 20);
    if (!died) await settleAway(database.pool, first!, { trouble: 'did not answer', restMs: 1, doubtful: true });
    await pass(database, 61);
    expect(await look(database, [])).toMatchObject([{ event: 'attention.ended' }]);
    expect(await waiting()).toEqual(['attention.ended']);
  }
});

test('a beginning that was given up is told anew while its trouble stands', async () => {
  await look(database, ['sweeper']);
  await pass(database, 61);
  const [first] = await look(database, ['sweeper']);
  await pass(database, 50);
  await look(database, ['sweeper']);
  await pass(database, 50);
  expect(await giveUp(database.pool, 90)).toBe(1);
  const [again, ...more] = await look(database, ['sweeper']);
  expect(more).toEqual([]);
  expect(again).toMatchObject({ event: 'attention.began', attentionId: first!.attentionId, seconds: 161 });
  expect(again!.id).not.toBe(first!.id);
});

test('of two processes one looks, and a look that was overtaken while it read changes nothing', async () => {
  expect((await Promise.all(Array.from({ length: 8 }, () => takeLook(database.pool, 4)))).filter((number) => number !== null)).toHaveLength(1);
  await told('sweeper');
  const frozen = await takeLook(database.pool, 0);
  await look(database, ['sweeper']);
  await pass(database, 61);
  expect(await record(database.pool, { look: frozen!, conditions: [condition('ttl')], sampled: [] }, pace)).toEqual([]);
  expect((await database.pool.query('select key from webhook_attention')).rows).toEqual([{ key: 'sweeper' }]);
});

test('looks that always overlap are recorded all the same, and what they see is told', async () => {
  const told: Message[] = [];
  let open = await takeLook(database.pool, 0);
  for (let second = 0; second <= 65; second += 5) {
    const next = await takeLook(database.pool, 0);
    told.push(...await record(database.pool, { look: open!, conditions: [condition('sweeper')], sampled: [] }, pace));
    open = next;
    await pass(database, 5);
  }
  expect(told).toMatchObject([{ event: 'attention.began' }]);
});

test('a listener that is down in one process stands although the others do not see it, and is over when that process falls silent', async () => {
  for (let second = 0; second <= 65; second += 5) {
    await hear(database);
    expect(await look(database, [])).toMatchObject(second < 60 ? [] : second === 60 ? [{ kind: 'listener', event: 'attention.began' }] : []);
    await pass(database, 5);
  }
  await deliver();
  await pass(database, 60);
  expect(await look(database, [])).toEqual([]);
  await pass(database, 16);
  expect(await look(database, [])).toMatchObject([{ event: 'attention.ended' }]);
});

test('a row that newer ones pushed out of a full sample has not ended', async () => {
  await told('poison:old');
  await pass(database, 61);
  expect(await look(database, ['poison:new'], { sampled: ['poison'] })).toEqual([]);
  await pass(database, 61);
  expect(await look(database, ['poison:new'])).toMatchObject([{ kind: 'poison', event: 'attention.began' }, { kind: 'poison', event: 'attention.ended' }]);
});
