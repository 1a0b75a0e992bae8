import { request, type IncomingHttpHeaders } from 'node:http';
import { randomBytes } from 'node:crypto';

/** Bytes that pass for a PDF at the door: the header, then noise. */
export function pdfBytes(size = 200): Buffer {
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(Math.max(0, size - 9))]);
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: { [key: string]: unknown; code?: string; detail?: string; jobId?: string; items?: { itemId: string; filename: string; byteSize: number }[] };
}

export interface Upload {
  userId?: string;
  sessionId?: string;
  userEmail?: string;
  files?: { name: string; bytes: Buffer }[];
}

/** A well-formed multipart body, as a backend would send it. */
export function formOf({ userId = 'user-1', sessionId = 'session-1', userEmail, files = [{ name: 'paper.pdf', bytes: pdfBytes() }] }: Upload): FormData {
  const form = new FormData();
  form.set('userId', userId);
  form.set('sessionId', sessionId);
  if (userEmail !== undefined) form.set('userEmail', userEmail);
  for (const { name, bytes } of files) form.append('files', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), name);
  return form;
}

export async function upload(url: string, token: string, what: Upload = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${url}/api/parse-sources`, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body: formOf(what) });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() as Answer['body'] };
}

/** Sends exactly these bytes as the body, whatever they are. */
export function uploadRaw(port: number, token: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port, host: '127.0.0.1', path: '/api/parse-sources', method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=XX', 'content-length': Buffer.byteLength(body), ...headers },
    }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(Buffer.concat(parts).toString() || '{}') as Answer['body'] }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** One part of a raw body with boundary XX. */
export function part(headers: string[], content: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(`--XX\r\n${headers.join('\r\n')}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
}

export function field(name: string, value: string): Buffer {
  return part([`Content-Disposition: form-data; name="${name}"`], value);
}

export function file(disposition: string, content: Buffer | string): Buffer {
  return part([`Content-Disposition: form-data; name="files"; ${disposition}`, 'Content-Type: application/pdf'], content);
}

export function body(...parts: (Buffer | string)[]): Buffer {
  return Buffer.concat([...parts.map((one) => Buffer.from(one)), Buffer.from('--XX--\r\n')]);
}

export const owner = Buffer.concat([field('userId', 'user-1'), field('sessionId', 'session-1')]);
