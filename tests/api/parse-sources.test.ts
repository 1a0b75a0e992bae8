import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument } from '../support/factories.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { spooled } from './spooled.js';
import { pdfBytes, upload } from './uploads.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { maxFileBytes: 100_000, maxUploadBytes: 150_000, maxUploadFiles: 3 } });
  token = await apiToken(database);
});
afterAll(() => web.close());
beforeEach(() => database.pool.query('truncate parse_jobs, documents, queue_events cascade'));

async function staged(): Promise<number> {
  return (await database.pool.query<{ n: number }>('select count(*)::int as n from parse_items')).rows[0]!.n;
}

describe('an accepted upload', () => {
  test('is answered 202 with a job and its items, and lies in the database with its bytes', async () => {
    const files = [{ name: 'thesis.pdf', bytes: pdfBytes(50_000) }, { name: 'source.pdf', bytes: pdfBytes(300) }];
    const answer = await upload(web.url, token, { userId: 'u', sessionId: 's', userEmail: 'u@example.org', files });
    expect(answer.status).toBe(202);
    expect(answer.headers.location).toBe(`/api/parse-jobs/${answer.body.jobId}`);
    expect(answer.body.items).toEqual(files.map(({ name, bytes }) => ({ itemId: expect.stringMatching(/^[0-9a-f-]{36}$/), filename: name, byteSize: bytes.length })));
    const job = await database.pool.query('select state, user_id, session_id, user_email, open_children, total_children, max_attempts from parse_jobs where id = $1', [answer.body.jobId]);
    expect(job.rows).toEqual([{ state: 'awaiting', user_id: 'u', session_id: 's', user_email: 'u@example.org', open_children: 2, total_children: 2, max_attempts: 3 }]);
    const items = await database.pool.query('select filename, byte_size, file_bytes, content_sha256, state from parse_items where job_id = $1 order by id', [answer.body.jobId]);
    expect(items.rows).toEqual(files.map(({ name, bytes }) => ({
      filename: name, byte_size: String(bytes.length), file_bytes: bytes, content_sha256: createHash('sha256').update(bytes).digest(), state: 'queued',
    })));
    const events = await database.pool.query('select queue, cause from queue_events order by id');
    expect(events.rows).toEqual([{ queue: 'parse_jobs', cause: 'enqueue' }, { queue: 'parse_items', cause: 'enqueue' }, { queue: 'parse_items', cause: 'enqueue' }]);
    expect(await spooled(web.spoolFolder)).toEqual([]);
  });

  test('wakes the workers once it is committed', async () => {
    const heard: unknown[] = [];
    const stop = web.world.listener.subscribe('kick', (message) => heard.push(message));
    await upload(web.url, token);
    await expect.poll(() => heard).toEqual([{ q: 'parse_items', low: true }]);
    stop();
  });

  test('tells the consoles which rows are new', async () => {
    const heard: { t: string; ids: string[] }[] = [];
    const stop = web.world.listener.subscribe('rows', (message) => void ('ids' in message && heard.push(message)));
    const { body } = await upload(web.url, token);
    await expect.poll(() => heard.flatMap((one) => one.ids).sort()).toEqual([body.jobId!, body.items![0]!.itemId].sort());
    stop();
  });

  test('links what this user had parsed before, and nothing of anybody else', async () => {
    const bytes = pdfBytes();
    const hash = createHash('sha256').update(bytes).digest();
    const mine = await insertDocument(database.pool, { user_id: 'me', content_sha256: hash });
    await insertDocument(database.pool, { user_id: 'someone else', content_sha256: hash });
    await upload(web.url, token, { userId: 'me', sessionId: 's9', files: [{ name: 'a.pdf', bytes }] });
    const { rows } = await database.pool.query('select user_id, session_id, document_id, linked_by from session_sources');
    expect(rows).toEqual([{ user_id: 'me', session_id: 's9', document_id: mine.id, linked_by: 'upload' }]);
  });

  test('is accepted although the link cannot be written', async () => {
    const bytes = pdfBytes();
    await insertDocument(database.pool, { user_id: 'me', content_sha256: createHash('sha256').update(bytes).digest() });
    await database.pool.query('alter table session_sources add constraint broken check (false) not valid');
    const answer = await upload(web.url, token, { userId: 'me', files: [{ name: 'a.pdf', bytes }] });
    await database.pool.query('alter table session_sources drop constraint broken');
    expect(answer.status).toBe(202);
    expect(await staged()).toBe(1);
  });

  test('finds the PDF header anywhere in the first 1024 bytes', async () => {
    const bytes = Buffer.concat([Buffer.alloc(1019, 10), Buffer.from('%PDF-1.4'), Buffer.alloc(100)]);
    expect((await upload(web.url, token, { files: [{ name: 'late.pdf', bytes }] })).status).toBe(202);
    const tooLate = Buffer.concat([Buffer.alloc(1020, 10), Buffer.from('%PDF-1.4'), Buffer.alloc(100)]);
    expect((await upload(web.url, token, { files: [{ name: 'later.pdf', bytes: tooLate }] })).status).toBe(415);
  });
});

describe('a refused upload names its fault and stages nothing', () => {
  const good = { name: 'good.pdf', bytes: pdfBytes() };
  test.each([
    ['one file is not a PDF', { files: [good, { name: 'holiday.jpg', bytes: Buffer.from('not a pdf at all') }] }, 415, 'not_a_pdf', 'holiday.jpg'],
    ['one file is empty', { files: [good, { name: 'void.pdf', bytes: Buffer.alloc(0) }] }, 400, 'invalid_upload', 'void.pdf'],
    ['one file is too large', { files: [good, { name: 'huge.pdf', bytes: pdfBytes(100_001) }] }, 413, 'file_too_large', 'huge.pdf'],
    ['the files together are too large', { files: [{ name: 'a.pdf', bytes: pdfBytes(80_000) }, { name: 'b.pdf', bytes: pdfBytes(80_000) }] }, 413, 'file_too_large', '150000'],
    ['there are too many files', { files: [good, good, good, good] }, 400, 'invalid_upload', 'at most 3 files'],
    ['there is no file', { files: [] }, 400, 'invalid_upload', 'no file'],
    ['the user is missing', { userId: '' }, 400, 'invalid_upload', 'userId'],
    ['the session is blank', { sessionId: '  ' }, 400, 'invalid_upload', 'sessionId'],
    ['the user is too long', { userId: 'u'.repeat(201) }, 400, 'invalid_upload', 'userId'],
    ['the user has control characters', { userId: 'user\u0000-1' }, 400, 'invalid_upload', 'control'],
    ['a file name is too long', { files: [{ name: `${'n'.repeat(252)}.pdf`, bytes: pdfBytes() }] }, 400, 'invalid_upload', '255'],
  ])('%s', async (_why, what, status, code, named) => {
    const answer = await upload(web.url, token, what);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.detail).toContain(named);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ type: `urn:leaseboard:problem:${code}`, title: expect.any(String), status });
    expect(await staged()).toBe(0);
    expect(await spooled(web.spoolFolder)).toEqual([]);
  });

  test('a user of 200 characters and a file name of 255 are accepted', async () => {
    const answer = await upload(web.url, token, { userId: 'ü'.repeat(200), files: [{ name: `${'é'.repeat(251)}.pdf`, bytes: pdfBytes() }] });
    expect(answer.status).toBe(202);
    expect(answer.body.items?.[0]?.filename).toBe(`${'é'.repeat(251)}.pdf`);
  });
});
