import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import { findPath, hitPath } from '~/format/find-words';
import { parseSubject } from '../../server/console/find-subject.js';
import { HITS_SHOWN } from '../../server/console/find-queries.js';
import type { FindAnswer, GroupName } from '../../server/console/find-view.js';
import { find } from '../../server/console/find.js';
import { createKysely } from '../../server/db/kysely.js';
import { migrate, migrationsIn } from '../../server/db/migrate.js';
import { createLogger } from '../../server/log.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertParseJob, insertRow, insertWorker, sql } from '../support/factories.js';
import { insertAnalysis, insertCitation } from './report-rows.js';
import { idFrom } from './rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

const look = (text: string) => find(kysely, text);
const names = (answer: FindAnswer) => answer.groups.map((group) => group.name);
function groupOf(answer: FindAnswer, name: GroupName) {
  const found = answer.groups.find((group) => group.name === name);
  if (!found) throw new Error(`Expected a group ${name}, found ${names(answer).join(', ') || 'none'}`);
  return found;
}
const idsOf = (answer: FindAnswer, name: GroupName) => groupOf(answer, name).hits.map((hit) => ('id' in hit ? hit.id : hit.kind === 'session' ? hit.sessionId : hit.address));

function app(values: Record<string, unknown> = {}) {
  return insertRow<{ id: string }>(database.pool, 'deployments', {
    id: uuidv7(), project_id: `project-${uuidv7()}`, slug: `slug-${uuidv7()}`, user_id: 'publisher', requested_by: 'button', state: 'failed', finished_at: sql('now()'), ...values,
  });
}

test('an address finds the customer’s sessions, newest first, in any capitals, and tells of the newest', async () => {
  const customer = { user_id: 'anna-1', user_email: 'Anna.Weber@Uni-Bonn.example' };
  for (const [ago, session] of [[300, 'older'], [200, 'newer'], [100, 'newest'], [250, 'newest']] as const) await insertParseJob(database.pool, { ...customer, id: idFrom(ago), session_id: session });
  const report = await insertAnalysis(database.pool, { user_id: 'anna-1', session_id: 'newer' });
  for (const typed of ['anna.weber@uni-bonn.example', 'ANNA.WEBER@UNI-BONN.EXAMPLE', 'Re: <Anna.Weber@uni-bonn.example>']) {
    const answer = await look(typed);
    expect(idsOf(answer, 'address')).toEqual(['newest', 'newer', 'older']);
    expect(answer.subject).toEqual({ userId: 'anna-1', sessionId: 'newest' });
    expect(groupOf(answer, 'address').hits[1]).toMatchObject({ email: 'Anna.Weber@Uni-Bonn.example', analysis: { id: report.id, state: 'awaiting' }, upload: { state: 'awaiting' } });
  }
});

test('the start of an address lists the addresses that begin so, and tells of nobody', async () => {
  for (const [n, user] of ['zoe.a', 'zoe.b', 'zoe.b', 'zoey'].entries()) await insertParseJob(database.pool, { user_id: `z-${n}`, session_id: `z-${n}`, user_email: `${user}@mail.example` });
  const answer = await look('ZOE.');
  expect(idsOf(answer, 'address_start')).toEqual(['zoe.a@mail.example', 'zoe.b@mail.example']);
  expect(answer.subject).toBeNull();
  const whole = await look('zoe.a@mail.example');
  expect([names(whole), whole.subject]).toEqual([['address'], { userId: 'z-0', sessionId: 'z-0' }]);
});

test('signs that SQL patterns know are letters like others', async () => {
  await insertParseJob(database.pool, { user_id: 'p-1', user_email: '50%_off\\x@mail.example' });
  await insertParseJob(database.pool, { user_id: 'p-2', user_email: '50xyoffzx@mail.example' });
  expect(idsOf(await look('50%_off\\'), 'address_start')).toEqual(['50%_off\\x@mail.example']);
  expect(names(await look('%%%'))).toEqual([]);
  expect(names(await look('___'))).toEqual([]);
});

test('an address under which two users have uploaded tells of neither until one is chosen', async () => {
  for (const user of ['twin-1', 'twin-2']) await insertParseJob(database.pool, { user_id: user, session_id: `of ${user}`, user_email: 'twins@mail.example' });
  const answer = await look('twins@mail.example');
  expect([idsOf(answer, 'address'), answer.subject]).toEqual([['of twin-2', 'of twin-1'], null]);
});

test('a user and a session are found by their whole id, and what nobody knows by nothing', async () => {
  await insertParseJob(database.pool, { user_id: 'user/7 ü', session_id: 'sess 7' });
  const document = await insertDocument(database.pool, { user_id: 'linker' });
  await insertRow(database.pool, 'session_sources', { user_id: 'linker', session_id: 'linked only', document_id: document.id, linked_by: 'resolve' });
  expect((await look('user/7 ü')).subject).toEqual({ userId: 'user/7 ü', sessionId: 'sess 7' });
  expect((await look('sess 7')).subject).toEqual({ userId: 'user/7 ü', sessionId: 'sess 7' });
  expect((await look('linked only')).subject).toEqual({ userId: 'linker', sessionId: 'linked only' });
  expect((await look('sess 8'))).toMatchObject({ groups: [], subject: null, names: 'all' });
});

test('a row of any queue is found by its id, whole, by its first digits, and by the end that lists show', async () => {
  const job = await insertParseJob(database.pool, { user_id: 'rows', session_id: 'rows-s' });
  const item = await insertParseItem(database.pool, { user_id: 'rows', session_id: 'rows-s', job_id: job.id });
  const analysis = await insertAnalysis(database.pool, { user_id: 'rows', session_id: 'rows-s' });
  const citation = await insertCitation(database.pool, analysis.id, 0, { user_id: 'rows', session_id: 'rows-s' });
  const deployment = await app();
  for (const { id } of [job, item, analysis, citation, deployment]) {
    expect(idsOf(await look(id), 'id')).toEqual([id]);
    expect(idsOf(await look(id.toUpperCase().replaceAll('-', '')), 'id')).toEqual([id]);
    expect(idsOf(await look(id.slice(0, 28)), 'id_start')).toEqual([id]);
  }
  for (const { id } of [job, analysis]) {
    expect(idsOf(await look(id.slice(-8)), 'id_end')).toEqual([id]);
    expect(idsOf(await look(`…${id.slice(-8)}`), 'id_end')).toEqual([id]);
    expect(idsOf(await look(id.slice(-13)), 'id_end')).toEqual([id]);
  }
  expect((await look(item.id)).subject).toEqual({ userId: 'rows', sessionId: 'rows-s' });
  for (const { id } of [analysis, citation]) expect((await look(id)).subject).toEqual({ userId: 'rows', sessionId: 'rows-s', analysisId: analysis.id });
  expect((await look(deployment.id)).subject).toBeNull();
  expect(names(await look(uuidv7()))).toEqual([]);
});

test('a document is found by its id, and leads to a session that it is linked to', async () => {
  const document = await insertDocument(database.pool, { user_id: 'reader', filename: 'bates.pdf' });
  expect((await look(document.id)).subject).toBeNull();
  await insertRow(database.pool, 'session_sources', { user_id: 'reader', session_id: 'reading', document_id: document.id, linked_by: 'resolve' });
  const answer = await look(document.id);
  expect([idsOf(answer, 'document'), answer.subject]).toEqual([[document.id], { userId: 'reader', sessionId: 'reading' }]);
});

test('a file is found by any part of its name, whatever its accents, capitals, ligatures or German spelling, in every state', async () => {
  const files = ['Müller & Groß – Überblick.PDF', 'MUELLER_2.pdf', 'ﬁnal Łódź.pdf', 'Mu\u0308ller zerlegt.pdf', 'Ελληνικά ΑΘΗΝΑ.pdf'];
  const states = ['succeeded', 'queued', 'running', 'failed', 'cancelled'] as const;
  const ids: string[] = [];
  for (const [n, filename] of files.entries()) ids.push((await insertParseItem(database.pool, { filename, state: states[n], user_id: `f-${n}`, session_id: `f-${n}` })).id);
  const found = async (text: string) => idsOf(await look(text), 'file').map((id) => ids.indexOf(id)).sort();
  expect(await found('müller')).toEqual([0, 1, 3]);
  expect(await found('MULLER')).toEqual([0, 3]);
  expect(await found('mueller')).toEqual([0, 1, 3]);
  expect(await found('gross')).toEqual([0]);
  expect(await found('uberblick.pdf')).toEqual([0]);
  expect(await found('final lodz')).toEqual([2]);
  expect(await found('αθηνα')).toEqual([4]);
  expect((await look('lodz')).subject).toEqual({ userId: 'f-2', sessionId: 'f-2' });
  expect((await look('muller')).subject).toBeNull();
});

test('a name that is not among the newest files is found by the index', async () => {
  const job = await insertParseJob(database.pool, { state: 'succeeded' });
  await insertParseItem(database.pool, { id: idFrom(90_000), job_id: job.id, filename: 'Ancient Tractatus.pdf', state: 'succeeded' });
  await insertParseItem(database.pool, { id: idFrom(90_001), job_id: job.id, filename: 'Waiting Tractatus.pdf', state: 'queued' });
  await database.pool.query(`
    insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, state, finished_at)
    select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 80000000 + n), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, $1, 'bulk', 'bulk', 'bulk ' || n || '.pdf', 1, '\\x00', 'succeeded', now()
    from generate_series(1, 6000) n`, [job.id]);
  expect(groupOf(await look('tractatus'), 'file').hits.map((hit) => hit.kind === 'row' && hit.name)).toEqual(['Ancient Tractatus.pdf', 'Waiting Tractatus.pdf']);
  expect(groupOf(await look('bulk 17.pdf'), 'file').hits).toHaveLength(1);
  const many = groupOf(await look('bulk'), 'file');
  expect([many.hits.length, many.more]).toEqual([HITS_SHOWN, true]);
});

test('an app is found by its project, its slug in any spelling, their beginnings, and its user', async () => {
  const one = await app({ project_id: 'Prj-Alpha', slug: 'alpha-shop', user_id: 'owner-a' });
  const two = await app({ project_id: 'Prj-Alpine', slug: 'alpine-hut', user_id: 'owner-a' });
  expect(idsOf(await look('ALPHA-SHOP'), 'app')).toEqual([one.id]);
  expect(idsOf(await look('alp'), 'app')).toEqual([one.id, two.id]);
  expect(idsOf(await look('Prj-Al'), 'app')).toEqual([one.id, two.id]);
  expect(idsOf(await look('owner-a'), 'app').sort()).toEqual([one.id, two.id].sort());
  expect((await look('Prj-Alpha')).groups[0]).toMatchObject({ name: 'app', whole: true });
});

test('a process is found by its label or id, live ones before those that ended', async () => {
  await insertWorker(database.pool, { id: 'w-cite-old', label: 'citer-1', stopped_at: sql('now()') });
  await insertWorker(database.pool, { id: 'w-cite-new', label: 'citer-1', capabilities: ['citations'], version: 'v9' });
  expect(groupOf(await look('CITER'), 'worker').hits).toEqual([
    expect.objectContaining({ id: 'w-cite-new', condition: 'live', capabilities: ['citations'], version: 'v9' }), expect.objectContaining({ id: 'w-cite-old', condition: 'ended' }),
  ]);
  expect(idsOf(await look('w-cite-o'), 'worker')).toEqual(['w-cite-old']);
});

test('a customer with hundreds of uploads in one session is told that older sessions may not be shown', async () => {
  await database.pool.query(`
    insert into parse_jobs (id, user_id, session_id, user_email, open_children, total_children, state, finished_at)
    select (substr($1, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'many', 'many-s', 'many@mail.example', 0, 1, 'succeeded', now() from generate_series(1, 250) n`, [idFrom(400)]);
  for (const text of ['many', 'many@mail.example']) expect((await look(text)).groups[0]).toMatchObject({ more: true, hits: [{ sessionId: 'many-s' }] });
});

test('whole names come before parts, and each group says when there is more', async () => {
  for (let n = 0; n < HITS_SHOWN + 2; n += 1) await insertParseJob(database.pool, { user_id: 'busy', session_id: `busy-${n}`, user_email: `busy${n}@mail.example` });
  const answer = await look('busy');
  expect(answer.groups.map(({ name, whole, more, hits }) => [name, whole, more, hits.length])).toEqual([['user', true, true, HITS_SHOWN], ['address_start', false, true, HITS_SHOWN]]);
});

test('an answer has names and states in it, and no text of a document, a claim or an upload', async () => {
  const at = { user_id: 'masked', session_id: 'masked-s' };
  await insertParseJob(database.pool, { ...at, user_email: 'masked@mail.example' });
  await insertParseItem(database.pool, { ...at, filename: 'masked.pdf', file_bytes: Buffer.from('secret bytes') });
  await insertDocument(database.pool, { user_id: 'masked', filename: 'masked.pdf' });
  const analysis = await insertAnalysis(database.pool, at);
  const citation = await insertCitation(database.pool, analysis.id, 0, { ...at, state: 'failed', error_message: 'it said: secret' });
  for (const text of ['masked', 'masked@mail.example', 'masked-s', analysis.id, citation.id]) expect(JSON.stringify(await look(text))).not.toMatch(/secret|ten letter|c2VjcmV0/i);
  expect(names(await look('a secret claim'))).toEqual([]);
});

test('where the database refuses pg_trgm the schema is made all the same; names are found by their start, and the answer says so', async () => {
  const bare = await testDatabase({ template: false });
  const role = `plain_${uuidv7().replaceAll('-', '').slice(-12)}`;
  await bare.pool.query(`create role ${role} login password 'plain'; grant all on schema public to ${role}`);
  const directUrl = Object.assign(new URL(bare.url), { username: role, password: 'plain' }).href;
  await migrate({ directUrl, migrationsDir: migrationsIn(path.resolve(import.meta.dirname, '../..')), log: createLogger({ level: 'silent', name: 'test' }) });
  const { id } = await insertParseItem(bare.pool, { filename: 'Über alles.pdf', state: 'succeeded' });
  const answer = await find(createKysely(bare.pool), 'uber a');
  expect([answer.names, idsOf(answer, 'file')]).toEqual(['starts', [id]]);
  expect((await bare.pool.query(`select to_regclass('parse_items_by_name') as trigrams, (select count(*)::int from pg_extension where extname = 'pg_trgm') as installed`)).rows).toEqual([{ trigrams: null, installed: 0 }]);
  await bare.pool.query(`drop owned by ${role} cascade; drop role ${role}`);
});

test('what was chosen is in the address and comes back out of it', async () => {
  const analysisId = uuidv7();
  for (const subject of [{ userId: 'u & 1', sessionId: 's/ü?' }, { userId: 'u', sessionId: 's', analysisId }]) {
    expect(parseSubject(new URL(findPath('a b', subject), 'http://x').searchParams)).toEqual(subject);
  }
  for (const query of ['', 'user=u', 'session=s', 'user=&session=s']) expect(parseSubject(new URLSearchParams(query))).toBeNull();
  const { id } = await insertParseItem(database.pool, { filename: 'whereto.pdf', user_id: 'to', session_id: 'there' });
  const hit = groupOf(await look('whereto'), 'file').hits[0]!;
  expect(hitPath(hit, 'whereto')).toBe('/find?q=whereto&user=to&session=there');
  expect(idsOf(await look(id), 'id')).toEqual([id]);
});
