import { afterEach, expect, test } from 'vitest';
import { createOrchestrator } from '../../server/deployments/orchestrator-client.js';
import { OutsideError, PermanentError } from '../../server/lease/errors.js';
import { startStub, stopAll } from './world.js';

afterEach(stopAll);

const order = { deploymentId: 'd-1', projectId: 'p-1', slug: 'app', publishNo: 2 };
const never = new AbortController().signal;
const clientOf = (stub: { url: string; token: string }, timeoutMs = 10_000) => createOrchestrator({ ...stub, timeoutMs, pauseMs: 10, tries: 3 });

test('the same order is the same build, however often it is asked for', async () => {
  const stub = await startStub();
  const client = clientOf(stub);
  const ids = await Promise.all([1, 2, 3].map(() => client.createBuild(order, never)));
  expect([new Set(ids).size, stub.builds.counts]).toEqual([1, expect.objectContaining({ asked: 3, created: 1, replayed: 2 })]);
});

test('an answer that was lost is asked for again within the same call', async () => {
  const stub = await startStub({ loseAnswers: 2 });
  await clientOf(stub).createBuild(order, never);
  expect(stub.builds.counts).toMatchObject({ asked: 3, created: 1 });
});

test('a fence below the highest is refused and not asked for again', async () => {
  const stub = await startStub();
  await clientOf(stub).createBuild(order, never);
  await expect(clientOf(stub).createBuild({ ...order, publishNo: 1 }, never)).rejects.toMatchObject({ name: 'PermanentError', code: 'superseded' });
  expect(stub.builds.counts).toMatchObject({ asked: 2, refusedAtCreation: 1 });
});

test('a service that stays down is an outage, with its wish when it said one', async () => {
  const stub = await startStub({ refuse: { count: 99, status: 503, retryAfterSeconds: 60 } });
  const error = await clientOf(stub).readBuild('b-1', never).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OutsideError);
  expect(error).toMatchObject({ code: 'orchestrator_unavailable', retryAfterMs: 60_000 });
});

test('a service that never answers, and one that is not there, are outages too', async () => {
  const stub = await startStub({ hang: 99 });
  await expect(clientOf(stub, 100).readBuild('b-1', never)).rejects.toThrow(/did not answer within 100 ms/);
  await expect(createOrchestrator({ url: 'http://127.0.0.1:9', token: undefined, tries: 2, pauseMs: 1 }).readBuild('b', never)).rejects.toThrow(/could not be reached/);
});

test('a refusal is final and says what was said', async () => {
  const stub = await startStub();
  const stranger = createOrchestrator({ url: stub.url, token: 'wrong', pauseMs: 1 });
  await expect(stranger.createBuild(order, never)).rejects.toBeInstanceOf(PermanentError);
  await expect(stranger.createBuild(order, never)).rejects.toThrow(/401.*unauthorized/);
});

test('an abort ends a call, its wait and its pause at once, with its reason', async () => {
  const stub = await startStub({ hang: 99 });
  const controller = new AbortController();
  const waiting = createOrchestrator({ ...stub, timeoutMs: 60_000 }).readBuild('b', controller.signal);
  controller.abort(new Error('lease lost'));
  await expect(waiting).rejects.toThrow('lease lost');
  await expect(createOrchestrator(stub).readBuild('b', controller.signal)).rejects.toThrow('lease lost');
});
