import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createRetrieval, type Question, type Retrieval } from '../../../server/citations/retrieval/retrieval.js';
import { OutsideError } from '../../../server/lease/errors.js';
import type { Embedder } from '../../../server/sources/embedder.js';
import { offlineEmbedder } from '../../../server/sources/offline-embedder.js';
import { testDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';
import { addSource, link } from './sources.js';

let database: TestDatabase;
let session = '';
const never = new AbortController().signal;
const offline = offlineEmbedder();
const feedback = 'Among 812 nurses, weekly feedback lowered sick leave by 23 percent within two years.';
const greenery = 'Urban greenery reduced heat stress of pensioners in the inner city during three hot summers.';
const rueckmeldung = 'Wöchentliche Rückmeldungen verringerten den Krankenstand bei Pflegekräften um 23 Prozent.';

beforeAll(async () => { database = await testDatabase(); });
afterEach(() => vi.restoreAllMocks());

function retrieval(options: { embedder?: Embedder; ttl?: number } = {}): Retrieval {
  session = `s-${Math.random()}`;
  return createRetrieval({ pool: database.pool, embedder: options.embedder ?? offline, config: { sourceCacheTtlSeconds: options.ttl ?? 60 } });
}

function ask(from: Retrieval, text: string, more: Partial<Question> = {}) {
  return from.passagesFor({ userId: 'anna', sessionId: session, claim: { text }, ...more }, never);
}

async function add(bodies: string[], options: Parameters<typeof addSource>[2] = {}) {
  const vectors = await offline.embed(bodies, never);
  return addSource(database.pool, bodies, { sessionId: session, vectors, model: offline.model, ...options });
}

/** Statements that read text for an index. */
function countBuilds() {
  let builds = 0;
  const connect = database.pool.connect.bind(database.pool) as () => Promise<any>;
  vi.spyOn(database.pool, 'connect').mockImplementation(async () => {
    const client = await connect();
    const query = client.query;
    const release = client.release;
    client.query = (statement: any, ...rest: unknown[]) => {
      if (/c\.body from/.test(statement?.text ?? '') && statement.values[2] === undefined) builds++;
      return query.call(client, statement, ...rest);
    };
    client.release = (...rest: unknown[]) => {
      client.query = query;
      client.release = release;
      return release.apply(client, rest);
    };
    return client;
  });
  return () => builds;
}

test('the passage that speaks to the claim comes first, with its place and what found it', async () => {
  const from = retrieval();
  const id = await add([greenery, feedback, 'The data come from a survey.']);
  const [best] = await ask(from, 'Weekly feedback lowers the sick leave of nurses (Koch 2004).');
  expect(best).toMatchObject({ documentId: id, ordinal: 1, body: feedback, pageFrom: 1, pageTo: 1, charFrom: greenery.length + 1 });
  expect(best!.scores.lexical).toBeGreaterThan(0);
  expect(best!.scores.vector).toBeGreaterThan(0.2);
  expect(best!.scores.fused).toBeCloseTo(2 / 61, 10);
});

test('inflected words are found, German and English, also where a line’s end cut them', async () => {
  const from = retrieval({ embedder: { ...offline, model: 'none' } });
  await add([greenery, rueckmeldung.replace('Krankenstand', 'Kran-\nkenstand'), feedback]);
  expect((await ask(from, 'Die wöchentliche Rückmeldung verringert den Krankenstand.'))[0]!.ordinal).toBe(1);
  expect((await ask(from, 'Cities reduce stress by summer greenery.'))[0]!.ordinal).toBe(0);
});

test('the names and years of a citation do not lead to the list of references', async () => {
  const from = retrieval();
  await add([`Koch, A. (2004). Methods of Koch. Schmidt, B. (2004). Koch and Schmidt (2004) again.`, feedback]);
  expect((await ask(from, 'Feedback lowers sick leave (see Koch and Schmidt 2004, p. 4).'))[0]!.ordinal).toBe(1);
  expect((await ask(from, 'Koch and Schmidt (2004) show that feedback lowers sick leave.'))[0]!.ordinal).toBe(1);
});

test('the order is the same every time, equals by their keys', async () => {
  const from = retrieval();
  await add([feedback, feedback, feedback]);
  await add([feedback, feedback]);
  const keys = async (some: Retrieval) => (await ask(some, 'Feedback lowers sick leave.', { limit: 5 })).map(({ documentId, ordinal }) => `${documentId} ${ordinal}`);
  const first = await keys(from);
  expect(first).toEqual([...first].sort());
  from.clear();
  expect(await keys(from)).toEqual(first);
});

test('foreign users, foreign sessions and unlinked documents never appear, in text, scores or counts', async () => {
  const from = retrieval();
  const own = await add([greenery]);
  const alone = await ask(from, feedback);
  await add([feedback], { userId: 'bert' });
  await add([feedback], { sessionId: 'elsewhere' });
  await add([feedback], { linked: false });
  await link(database.pool, await add([feedback], { userId: 'bert', linked: false }), 'anna', session);
  expect((await ask(from, feedback)).map(({ documentId }) => documentId)).toEqual([own]);
  from.clear();
  expect(await ask(from, feedback)).toEqual(alone);
  expect(await ask(from, feedback, { userId: 'carl' })).toEqual([]);
});

test('ids that look alike when joined do not share an index', async () => {
  const from = retrieval();
  await addSource(database.pool, [feedback], { userId: 'a","b', sessionId: session });
  await ask(from, feedback, { userId: 'a","b' });
  expect(await ask(from, feedback, { userId: 'a', sessionId: `b","${session}` })).toEqual([]);
});

test('one source can be asked alone; one that is not the user’s says nothing', async () => {
  const from = retrieval();
  await add([feedback]);
  const second = await add([greenery, 'Feedback of nurses.']);
  const foreign = await add([feedback], { userId: 'bert' });
  const found = await ask(from, 'Feedback lowers sick leave of nurses.', { documentId: second });
  expect(found.map(({ documentId }) => documentId)).toEqual([second, second]);
  expect(await ask(from, feedback, { documentId: foreign })).toEqual([]);
});

test('a source that is linked later is found, one that is unlinked or erased is gone, whatever is in memory', async () => {
  const from = retrieval();
  const first = await add([feedback]);
  await ask(from, feedback);
  const second = await add([feedback]);
  expect((await ask(from, feedback)).map(({ documentId }) => documentId)).toEqual([first, second]);
  await database.pool.query('delete from session_sources where document_id = $1', [first]);
  expect((await ask(from, feedback)).map(({ documentId }) => documentId)).toEqual([second]);
  await database.pool.query('delete from documents where id = $1', [second]);
  expect(await ask(from, feedback)).toEqual([]);
});

test('chunks without a vector, or with one of another model or length, are found by their words', async () => {
  const from = retrieval();
  const plain = await addSource(database.pool, [feedback], { sessionId: session });
  const other = await addSource(database.pool, [feedback], { sessionId: session, vectors: [[1, 2, 3]], model: 'other' });
  const short = await addSource(database.pool, [feedback], { sessionId: session, vectors: [[1, 2, 3]], model: offline.model });
  const whole = await add([feedback]);
  const found = await ask(from, feedback);
  expect(found.map(({ documentId }) => documentId).sort()).toEqual([plain, other, short, whole].sort());
  expect(found[0]).toMatchObject({ documentId: whole });
  expect(found.filter(({ scores }) => scores.vector === null)).toHaveLength(3);
});

test('no embedding is asked for where nothing could be compared', async () => {
  const embed = vi.fn(offline.embed);
  const from = retrieval({ embedder: { ...offline, embed } });
  await addSource(database.pool, [feedback], { sessionId: session });
  expect(await ask(from, feedback)).toHaveLength(1);
  expect(embed).not.toHaveBeenCalled();
});

test('an embedding service that is away is no empty answer', async () => {
  const from = retrieval({ embedder: { ...offline, embed: () => Promise.reject(new OutsideError('embeddings_unavailable', 'away')) } });
  await add([feedback]);
  await expect(ask(from, feedback)).rejects.toBeInstanceOf(OutsideError);
});

test('many questions at once build one index, and the cache may be dropped in the middle of them', async () => {
  const from = retrieval();
  await add(Array.from({ length: 300 }, (_, i) => `${feedback} Number ${i}.`));
  const builds = countBuilds();
  const first = await Promise.all(Array.from({ length: 8 }, () => ask(from, feedback)));
  expect(builds()).toBe(1);
  expect(from.cached).toBe(1);
  let open = true;
  const clearing = (async () => {
    while (open) {
      from.clear();
      await new Promise((resolve) => { setImmediate(resolve); });
    }
  })();
  const torn = await Promise.all(Array.from({ length: 8 }, () => ask(from, feedback)));
  open = false;
  await clearing;
  from.clear();
  expect(from.cached).toBe(0);
  expect(torn).toEqual(first);
  expect(await ask(from, feedback)).toEqual(first[0]);
});

test('a kept index goes when its time is over, and the next question rebuilds it', async () => {
  const from = retrieval({ ttl: 0.05 });
  await add([feedback]);
  const builds = countBuilds();
  const before = await ask(from, feedback);
  await until(() => from.cached === 0);
  expect(await ask(from, feedback)).toEqual(before);
  expect(builds()).toBe(2);
});

test('an abort is heard while an embedding hangs, and other questions go on', async () => {
  const hanging = vi.fn<Embedder['embed']>(() => new Promise(() => undefined));
  const from = retrieval({ embedder: { ...offline, embed: hanging } });
  await add([feedback]);
  const controller = new AbortController();
  const work = from.passagesFor({ userId: 'anna', sessionId: session, claim: { text: feedback } }, controller.signal);
  await until(() => hanging.mock.calls.length === 1);
  controller.abort(new Error('cancelled'));
  await expect(work).rejects.toThrow('cancelled');
  await expect(from.passagesFor({ userId: 'anna', sessionId: session, claim: { text: feedback } }, controller.signal)).rejects.toThrow('cancelled');
});
