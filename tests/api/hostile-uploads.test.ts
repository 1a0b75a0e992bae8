import { request } from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { spooled } from './spooled.js';
import { body, field, file, owner, part, pdfBytes, upload, uploadRaw } from './uploads.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;
const pdf = '%PDF-1.7\nsome bytes';

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { maxActiveParseJobsPerUser: 1000 } });
  token = await apiToken(database);
});
afterAll(() => web.close());
beforeEach(() => database.pool.query('truncate parse_jobs cascade'));

const send = (content: Buffer | string, headers?: Record<string, string>) => uploadRaw(web.port, token, content, headers);

async function staged(): Promise<string[]> {
  return (await database.pool.query<{ filename: string }>('select filename from parse_items order by id')).rows.map((row) => row.filename);
}

describe('a hostile body is refused as invalid_upload, stages nothing and leaves no file', () => {
  test.each<[string, Buffer | string, Record<string, string>?]>([
    ['it is cut off inside a file', Buffer.concat([owner, Buffer.from('--XX\r\nContent-Disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n%PDF-1.7 and then')])],
    ['it is cut off inside a header', Buffer.concat([owner, Buffer.from('--XX\r\nContent-Disposition: form-da')])],
    ['its last boundary is missing', Buffer.concat([owner, file('filename="a.pdf"', pdf)])],
    ['its boundary does not match', body(owner, file('filename="a.pdf"', pdf)), { 'content-type': 'multipart/form-data; boundary=YY' }],
    ['it names no boundary', body(owner, file('filename="a.pdf"', pdf)), { 'content-type': 'multipart/form-data' }],
    ['its boundary is empty', body(owner, file('filename="a.pdf"', pdf)), { 'content-type': 'multipart/form-data; boundary=' }],
    ['it is JSON', '{"userId":"u"}', { 'content-type': 'application/json' }],
    ['it is a plain form', 'userId=u&sessionId=s', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['it is empty', ''],
    ['it is nothing but the last boundary', '--XX--\r\n'],
    ['it is garbage', Buffer.from(Array.from({ length: 5000 }, (_, k) => (k * 7919) % 256))],
    ['a field occurs twice', body(owner, field('userId', 'someone-else'), file('filename="a.pdf"', pdf))],
    ['a field is far too long', body(field('userId', 'u'.repeat(10_000)), field('sessionId', 's'), file('filename="a.pdf"', pdf))],
    ['a part has no disposition', body(owner, part(['Content-Type: application/pdf'], pdf), file('filename="a.pdf"', pdf))],
    ['a part has no name', body(owner, part(['Content-Disposition: form-data'], 'x'), file('filename="a.pdf"', pdf))],
    ['a file comes in another field', body(owner, part(['Content-Disposition: form-data; name="userEmail"; filename="a.pdf"'], pdf))],
    ['a part is a nested multipart', body(owner, part(['Content-Disposition: form-data; name="files"', 'Content-Type: multipart/mixed; boundary=YY'], `--YY\r\nContent-Disposition: file; filename="a.pdf"\r\n\r\nhidden\r\n--YY--`))],
    ['a part header is endless', body(owner, part([`X: ${'y'.repeat(200_000)}`, 'Content-Disposition: form-data; name="files"; filename="a.pdf"'], pdf))],
    ['a file name is endless', body(owner, file(`filename="${'y'.repeat(200_000)}.pdf"`, pdf))],
    ['a part is an attachment', body(owner, part(['Content-Disposition: attachment; name="files"; filename="a.pdf"'], pdf))],
    ['a part has a thousand headers', body(owner, part([...Array.from({ length: 1000 }, (_, k) => `X-${k}: y`), 'Content-Disposition: form-data; name="files"; filename="a.pdf"'], pdf))],
    ['it has ten thousand tiny parts', body(owner, ...Array.from({ length: 10_000 }, (_, k) => field(`f${k}`, 'x')), file('filename="a.pdf"', pdf))],
    ['it has ten thousand tiny files', body(owner, ...Array.from({ length: 10_000 }, () => file('filename="a.pdf"', pdf)))],
  ])('%s', async (_why, content, headers) => {
    const answer = await send(content, headers);
    expect([answer.body.code, answer.body.detail]).toEqual([expect.stringMatching(/^(invalid_upload|not_a_pdf)$/), expect.stringMatching(/stored|Send/)]);
    expect(await staged()).toEqual([]);
    await until(async () => (await spooled(web.spoolFolder)).length === 0);
  });

  test('and a good upload on the same connection afterwards is accepted', async () => {
    const answer = await send(body(owner, file('filename="a.pdf"', pdf)));
    expect(answer.status).toBe(202);
  });
});

describe('file names are only text', () => {
  test.each([
    ['a path', 'filename="../../etc/passwd.pdf"', 'passwd.pdf'],
    ['a Windows path', 'filename="C:\\\\Users\\\\me\\\\thesis.pdf"', 'thesis.pdf'],
    ['a directory alone', 'filename="../"', 'unnamed.pdf'],
    ['two dots', 'filename=".."', 'unnamed.pdf'],
    ['nothing', 'filename=""', 'unnamed.pdf'],
    ['markup', 'filename="<img src=x onerror=alert(1)>.pdf"', '<img src=x onerror=alert(1)>.pdf'],
    ['a template', 'filename="${jndi:ldap:x}{{7*7}}.pdf"', '${jndi:ldap:x}{{7*7}}.pdf'],
    ['SQL', `filename="'; drop table parse_jobs; --.pdf"`, `'; drop table parse_jobs; --.pdf`],
    ['UTF-8', 'filename="Überprüfung 論文.pdf"', 'Überprüfung 論文.pdf'],
    ['an extended name', `filename="x.pdf"; filename*=UTF-8''%C3%9Cber%20%E8%AB%96.pdf`, 'Über 論.pdf'],
    ['an extended name before a plain one', `filename*=utf-8'de'%C3%9Cber.pdf; filename="=?utf-8?B?eA==?="`, 'Über.pdf'],
    ['an extended name in latin1', `filename*=iso-8859-1''%DCber.pdf`, 'Über.pdf'],
    ['quotes and backslashes', 'filename="say \\"yes\\".pdf"', 'say "yes".pdf'],
    ['a semicolon', 'filename="a; name=userId; b.pdf"', 'a; name=userId; b.pdf'],
    ['no quotes', 'filename=plain.pdf', 'plain.pdf'],
    ['encoded line breaks', `filename*=UTF-8''a%0D%0Ab.pdf`, 'a  b.pdf'],
    ['an encoded path', `filename*=UTF-8''..%2F..%2Fa.pdf`, 'a.pdf'],
    ['right-to-left override', 'filename="thesis\u202Efdp.exe"', 'thesis\u202Efdp.exe'],
    ['an encoded NUL', `filename*=UTF-8''a%00b.pdf`, 'ab.pdf'],
    ['255 characters', `filename="${'n'.repeat(251)}.pdf"`, `${'n'.repeat(251)}.pdf`],
  ])('%s', async (_what, disposition, kept) => {
    const answer = await send(body(owner, file(disposition, pdf)));
    expect(answer.status).toBe(202);
    expect(answer.body.items?.[0]?.filename).toBe(kept);
    expect(await staged()).toEqual([kept]);
  });

  test('a raw NUL and bytes that are no UTF-8 become text that the database takes', async () => {
    const name = Buffer.concat([Buffer.from('a\0b'), Buffer.from([0xed, 0xa0, 0x80, 0xff]), Buffer.from('.pdf')]);
    const answer = await send(body(owner, Buffer.concat([Buffer.from('--XX\r\nContent-Disposition: form-data; name="files"; filename="'), name, Buffer.from(`"\r\n\r\n${pdf}\r\n`)])));
    expect(answer.status).toBe(202);
    expect(answer.body.items?.[0]?.filename).toMatch(/^ab\uFFFD+\.pdf$/);
  });

  test('a lone surrogate sent by a browser becomes a replacement character', async () => {
    const answer = await upload(web.url, token, { files: [{ name: 'a\uD800b.pdf', bytes: pdfBytes() }] });
    expect(answer.body.items?.[0]?.filename).toBe('a\uFFFDb.pdf');
  });

  test('a hostile name in a refusal is still JSON text', async () => {
    const answer = await send(body(owner, file('filename="<script>alert(1)<b>\u202E.pdf"', 'no header here')));
    expect(answer.body).toMatchObject({ code: 'not_a_pdf', filename: '<script>alert(1)<b>\u202E.pdf' });
  });
});

test('a body of unknown length is accepted within the limits, and cut off beyond them', async () => {
  const chunked = (content: Buffer, port: number) => new Promise<number>((resolve, reject) => {
    const outgoing = request({ port, path: '/api/parse-sources', method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary="XX"', 'transfer-encoding': 'chunked' } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(content);
  });
  expect(await chunked(body(owner, file('filename="a.pdf"', pdf)), web.port)).toBe(202);
  const small = await startWeb(database, { config: { maxUploadBytes: 10_000, maxFileBytes: 10_000 } });
  expect(await chunked(body(owner, field('userEmail', 'x'), file('filename="a.pdf"', pdfBytes(20_000))), small.port)).toBe(413);
  await small.close();
});

test('a body that announces more than is allowed is refused before it comes', async () => {
  const status = await new Promise<number>((resolve, reject) => {
    const outgoing = request({ port: web.port, path: '/api/parse-sources', method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=XX', 'content-length': 10_000_000_000 } }, (response) => {
      resolve(response.statusCode ?? 0);
      outgoing.destroy();
    });
    outgoing.on('error', reject);
    outgoing.write(owner);
  });
  expect(status).toBe(413);
});

describe('a client that does not finish', () => {
  /** Opens an upload that promises much and sends little. */
  function begin(bytes: string): net.Socket {
    const socket = net.connect(web.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST /api/parse-sources HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: 100000\r\n\r\n`);
    socket.write(Buffer.concat([owner, Buffer.from('--XX\r\nContent-Disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n'), Buffer.from(bytes)]));
    return socket;
  }

  test('holds no database connection while it is slow', async () => {
    const sockets = Array.from({ length: 40 }, () => begin('%PDF-1.7 slowly'));
    await until(async () => (await spooled(web.spoolFolder)).length === 40);
    expect([web.world.pool.totalCount - web.world.pool.idleCount, web.world.pool.waitingCount]).toEqual([0, 0]);
    expect((await upload(web.url, token)).status).toBe(202);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await spooled(web.spoolFolder)).length === 0);
  });

  test('leaves no file behind when it goes in the middle', async () => {
    const socket = begin('%PDF-1.7 half');
    await until(async () => (await spooled(web.spoolFolder)).length === 1);
    socket.destroy();
    await until(async () => (await spooled(web.spoolFolder)).length === 0);
    expect(await staged()).toEqual([]);
  });

  test('is given up after a silence, with an answer', async () => {
    const impatient = await startWeb(database, { config: {}, silenceMs: 100 });
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = request({ port: impatient.port, path: '/api/parse-sources', method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=XX', 'content-length': 5000 } }, (response) => {
        let text = '';
        response.on('data', (chunk) => { text += chunk; });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      outgoing.on('error', reject);
      outgoing.write(owner);
    });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([408, 'upload_stalled']);
    await impatient.close();
  });
});
