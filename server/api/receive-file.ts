import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Problem } from './problem.js';
import { spoolFull } from './spool.js';

/** A PDF's header must begin within this many bytes (what readers accept). */
const HEADER_WINDOW = 1024;

/** An uploaded file, whole and on disk. `path` is ours, never made from the client's name. */
export interface ReceivedFile {
  path: string;
  filename: string;
  byteSize: number;
  sha256: Buffer;
}

export interface Receiver {
  folder: string;
  maxFileBytes: number;
  /** Counts bytes of all files of the request; throws when that is too many. */
  count(bytes: number): void;
}

/** Writes one part to disk while hashing it. Throws a Problem that names the file when it is empty, too large, or no PDF. */
export async function receiveFile(source: Readable, filename: string, index: number, to: Receiver): Promise<ReceivedFile> {
  const target = path.join(to.folder, `file-${index}`);
  const handle = await open(target, 'wx', 0o600);
  try {
    return { path: target, filename, ...(await copy(source, handle, filename, to)) };
  } catch (error) {
    throw isDiskFull(error) ? spoolFull(error) : error;
  } finally {
    await handle.close();
  }
}

async function copy(source: Readable, handle: FileHandle, filename: string, to: Receiver): Promise<{ byteSize: number; sha256: Buffer }> {
  const hash = createHash('sha256');
  let head: Buffer | null = Buffer.alloc(0);
  let byteSize = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    byteSize += chunk.length;
    if (byteSize > to.maxFileBytes) throw fileTooLarge(filename, to.maxFileBytes);
    to.count(chunk.length);
    if (head) head = checkedHead(Buffer.concat([head, chunk.subarray(0, HEADER_WINDOW - head.length)]), filename, false);
    hash.update(chunk);
    await handle.write(chunk);
  }
  if (byteSize === 0) throw new Problem(400, 'invalid_upload', `The file ${quoted(filename)} is empty. Nothing of this upload was stored; choose the file again and send all of it.`, { extra: { filename } });
  if (head) checkedHead(head, filename, true);
  return { byteSize, sha256: hash.digest() };
}

/** Null once the header was found; throws when it can no longer come. */
function checkedHead(head: Buffer, filename: string, ended: boolean): Buffer | null {
  if (head.includes('%PDF-')) return null;
  if (!ended && head.length < HEADER_WINDOW) return head;
  throw new Problem(415, 'not_a_pdf', `The file ${quoted(filename)} is not a PDF: it has no PDF header. Nothing of this upload was stored; leave that file out or export it as PDF, and send the rest again.`, { extra: { filename } });
}

function fileTooLarge(filename: string, limit: number): Problem {
  return new Problem(413, 'file_too_large', `The file ${quoted(filename)} is larger than ${limit} bytes. Nothing of this upload was stored; make the file smaller or split it, and send the rest again.`, { extra: { filename, limit } });
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'].includes(String((error as NodeJS.ErrnoException | null)?.code));
}

/** A file name inside a sentence. */
export function quoted(filename: string): string {
  return `“${filename}”`;
}
