import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostOf, post } from '../../server/webhook/post.js';
import { until } from '../support/until.js';
import { answers, breaksOff, hangs, neverEnds, SECRET, webhookStub, type WebhookStub } from '../support/webhook-stub.js';

let receiver: WebhookStub;
let elsewhere: WebhookStub;
beforeAll(async () => { [receiver, elsewhere] = await Promise.all([webhookStub(), webhookStub()]); });
afterAll(() => Promise.all([receiver.close(), elsewhere.close()]));

const message = { id: '01a22d66-f34f-7d36-83ed-0a14815d92f9', body: '{"text":"hello"}' };
const never = new AbortController().signal;
const deliver = (url = receiver.url, timeoutMs?: number) => post(url, message, never, timeoutMs);

test('a message is taken with its id as the Idempotency-Key and the same bytes every time', async () => {
  for (let time = 0; time < 2; time++) expect(await deliver()).toEqual({ outcome: 'taken' });
  for (const told of receiver.taken) {
    expect(told).toMatchObject({ text: message.body, path: `/services/${SECRET}`, headers: { 'idempotency-key': message.id, 'content-type': 'application/json' } });
  }
  expect(receiver.taken).toHaveLength(2);
});

test.each([408, 429, 500, 503])('%i is an outage, and the wish to wait is heeded', async (status) => {
  receiver.behave(answers(status, { 'retry-after': '7' }));
  expect(await deliver()).toEqual({ outcome: 'away', trouble: `answered ${status}`, doubtful: false, retryAfterMs: 7_000 });
});

test.each([400, 401, 404, 410, 422])('%i is a refusal that a person has to look at', async (status) => {
  receiver.behave(answers(status));
  expect(await deliver()).toEqual({ outcome: 'refused', trouble: `refused with ${status}` });
});

test.each([301, 302, 307, 308])('a redirect (%i) is not followed: the message goes to the configured host alone', async (status) => {
  receiver.behave(answers(status, { location: elsewhere.url }));
  expect(await deliver()).toEqual({ outcome: 'refused', trouble: `answered ${status}, a redirect, which is not followed` });
  expect(elsewhere.asked).toEqual([]);
});

test('a receiver that hangs is left within the limit, and may have the message', async () => {
  receiver.behave(hangs);
  expect(await deliver(receiver.url, 50)).toEqual({ outcome: 'away', trouble: 'did not answer within 0.05 s', doubtful: true });
});

test('one that breaks off may have the message; one that cannot be reached has not', async () => {
  receiver.behave(breaksOff);
  expect(await deliver()).toMatchObject({ outcome: 'away', doubtful: true });
  const gone = await webhookStub();
  await gone.close();
  expect(await deliver(gone.url)).toEqual({ outcome: 'away', trouble: 'could not be reached (ECONNREFUSED)', doubtful: false });
});

test('an answer without end is believed by its status and costs neither memory nor a connection', async () => {
  receiver.behave(neverEnds);
  expect(await deliver()).toEqual({ outcome: 'taken' });
  await until(() => receiver.openSockets === 0, { what: 'the connection closed' });
});

test('the caller\'s signal ends a call at once', async () => {
  receiver.behave(hangs);
  const before = receiver.asked.length;
  const stopping = new AbortController();
  const call = post(receiver.url, message, stopping.signal);
  await until(() => receiver.asked.length > before);
  stopping.abort(new Error('stopped'));
  await expect(call).rejects.toThrow('stopped');
});

test('a name and password in the address become a header, and only the host is ever said', async () => {
  receiver.behave(answers(204));
  const url = receiver.url.replace('http://', 'http://ada:pass%20word@');
  expect(await deliver(url)).toEqual({ outcome: 'taken' });
  expect(receiver.taken.at(-1)!.headers.authorization).toBe(`Basic ${Buffer.from('ada:pass word').toString('base64')}`);
  expect(hostOf(url)).toBe(receiver.host);
});
