/**
 * Reads one multipart upload to disk. Bounded in everything a client decides: total, file, count, names, fields, silence. All or
 * nothing: the first fault ends the reading, the rest of the body is discarded, and no database connection is held meanwhile.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { MAX_NAME_CHARS, fileNameOf } from './file-name.js';
import { readBoundary, readPartHead, type PartHead } from './part-headers.js';
import { Problem } from './problem.js';
import { receiveFile, type ReceivedFile } from './receive-file.js';
import type { Room } from './spool.js';

/** The fields that carry files. */
const FILE_FIELDS = new Set(['files', 'files[]']);
/** Text fields and their lengths in bytes; more than the three we read are tolerated. */
const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 4096;
/** What boundaries, part headers and text fields may add to the files (bytes). */
const OVERHEAD_BYTES = 1024 * 1024;
/** A body that brings nothing for this long (ms) is given up. */
const SILENCE_MS = 30_000;

export interface UploadLimits {
  maxFileBytes: number;
  maxUploadBytes: number;
  maxUploadFiles: number;
  silenceMs?: number;
}

export interface UploadForm {
  fields: ReadonlyMap<string, string>;
  files: ReceivedFile[];
}

/** Resolves with a complete form whose files lie in the room's folder; rejects with a Problem. Either way no file is being written any more. */
export async function readUploadForm(req: IncomingMessage, limits: UploadLimits, room: Room): Promise<UploadForm> {
  const refusal = refusalByHeaders(req, limits);
  if (refusal) {
    discardRest(req, limits);
    throw refusal;
  }
  const reading = new Reading(req, limits, room);
  try {
    return await reading.done;
  } catch (error) {
    throw asUploadProblem(error);
  } finally {
    await reading.settled();
  }
}

function refusalByHeaders(req: IncomingMessage, limits: UploadLimits): Problem | undefined {
  if (!readBoundary(req.headers['content-type'])) return malformed('the body is not multipart/form-data with a boundary');
  return Number(req.headers['content-length'] ?? 0) > limits.maxUploadBytes + OVERHEAD_BYTES ? uploadTooLarge(limits.maxUploadBytes) : undefined;
}

class Reading {
  readonly done: Promise<UploadForm>;
  private readonly fields = new Map<string, string>();
  private readonly files: Promise<ReceivedFile>[] = [];
  private readonly texts: Promise<void>[] = [];
  private readonly open = new Set<Readable>();
  private readonly parser: InstanceType<typeof Dicer>;
  private parts = 0;
  private headless = 0;
  private fileBytes = 0;
  private bodyBytes = 0;
  private silence: NodeJS.Timeout | undefined;
  private fail!: (error: unknown) => void;

  constructor(private readonly req: IncomingMessage, private readonly limits: UploadLimits, private readonly room: Room) {
    this.parser = openParser(req);
    this.done = new Promise<UploadForm>((resolve, reject) => {
      this.fail = reject;
      this.parser.on('finish', () => this.complete().then(resolve, reject));
    });
    this.done.catch(() => this.stop());
    this.listen();
    req.pipe(this.parser);
  }

  /** When nothing of this request writes any more. */
  async settled(): Promise<void> {
    clearTimeout(this.silence);
    await Promise.allSettled([...this.files, ...this.texts]);
  }

  private listen(): void {
    const { parser, req } = this;
    parser.on('error', (error: Error) => this.fail(error));
    parser.on('part', (part) => this.takePart(part as Readable));
    req.on('data', (chunk: Buffer) => this.hear(chunk.length));
    req.once('error', (error) => this.fail(error));
    req.once('close', () => req.complete || this.fail(malformed('the connection closed before its end')));
    this.hear(0);
  }

  private hear(bytes: number): void {
    clearTimeout(this.silence);
    const silenceMs = this.limits.silenceMs ?? SILENCE_MS;
    this.silence = setTimeout(() => this.fail(stalled(silenceMs)), silenceMs).unref();
    this.bodyBytes += bytes;
    if (this.bodyBytes > this.limits.maxUploadBytes + OVERHEAD_BYTES) this.fail(uploadTooLarge(this.limits.maxUploadBytes));
  }

  private takePart(part: Readable): void {
    this.parts += 1;
    this.headless += 1;
    this.open.add(part);
    // Errors of a part that ends early arrive after we gave up on it; unheard they would end the process.
    part.on('error', () => undefined);
    part.once('close', () => this.open.delete(part));
    part.once('header', (headers: Record<string, string[]>) => {
      this.headless -= 1;
      try {
        this.takeBody(part, readPartHead(headers));
      } catch (error) {
        part.resume();
        this.fail(error);
      }
    });
  }

  private takeBody(part: Readable, head: PartHead | null): void {
    if (this.parts > this.limits.maxUploadFiles + MAX_FIELDS) throw tooManyParts(this.limits);
    if (!head?.name) throw malformed('each part needs a Content-Disposition of form-data with a name');
    const isFile = head.filename !== undefined || FILE_FIELDS.has(head.name) || head.contentType === 'application/pdf';
    if (isFile) this.takeFile(part, head.name, head.filename);
    else this.takeText(part, head.name);
  }

  private takeText(part: Readable, name: string): void {
    if (this.fields.has(name)) throw malformed(`the field ${name.slice(0, 50)} occurs twice`);
    if (this.fields.size >= MAX_FIELDS) throw tooManyParts(this.limits);
    this.fields.set(name, '');
    const read = readText(part, name).then((text) => void this.fields.set(name, text));
    read.catch((error) => this.fail(error));
    this.texts.push(read);
  }

  private takeFile(part: Readable, field: string, given: string | undefined): void {
    if (!FILE_FIELDS.has(field)) throw malformed(`a file came in the field ${field.slice(0, 50)}; files belong in the field files`);
    if (this.files.length >= this.limits.maxUploadFiles) throw tooManyParts(this.limits);
    const filename = fileNameOf(given);
    if (filename === null) throw malformed(`a file name is longer than ${MAX_NAME_CHARS} characters`);
    const to = { folder: this.room.folder, maxFileBytes: this.limits.maxFileBytes, count: (bytes: number) => this.countFileBytes(bytes) };
    const received = receiveFile(part, filename, this.files.length, to);
    received.catch((error) => this.fail(error));
    this.files.push(received);
  }

  private countFileBytes(bytes: number): void {
    this.fileBytes += bytes;
    if (this.fileBytes > this.limits.maxUploadBytes) throw uploadTooLarge(this.limits.maxUploadBytes);
    this.room.take(bytes);
  }

  private async complete(): Promise<UploadForm> {
    await Promise.all(this.texts);
    const files = await Promise.all(this.files);
    if (this.headless > 0) throw malformed('the headers of a part have no end');
    if (files.length === 0) throw new Problem(400, 'invalid_upload', 'This upload contains no file. Send at least one PDF in the field files.');
    return { fields: this.fields, files };
  }

  /** Stops parsing; the rest of the body is read and dropped, so that the client gets to read our answer. */
  private stop(): void {
    this.req.unpipe(this.parser);
    for (const part of this.open) part.destroy(new Error('The upload was given up.'));
    discardRest(this.req, this.limits);
  }
}

function openParser(req: IncomingMessage): InstanceType<typeof Dicer> {
  const options = { boundary: readBoundary(req.headers['content-type']), maxHeaderPairs: 20, maxHeaderSize: 16 * 1024 };
  return new Dicer(options);
}

async function readText(part: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of part as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FIELD_BYTES) throw malformed(`the field ${name.slice(0, 50)} is longer than ${MAX_FIELD_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads and drops the rest of a refused body, so that the client gets to read our answer; a body without end is cut off. */
function discardRest(req: IncomingMessage, limits: UploadLimits): void {
  let dropped = 0;
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > limits.maxUploadBytes + OVERHEAD_BYTES) req.destroy();
  });
  req.resume();
}

function asUploadProblem(error: unknown): unknown {
  if (error instanceof Problem) return error;
  const system = typeof (error as NodeJS.ErrnoException | null)?.code === 'string';
  if (system && (error as NodeJS.ErrnoException).syscall) return error;
  return malformed('it ends in the middle of a part, or its boundary does not match', error);
}

function malformed(what: string, cause?: unknown): Problem {
  return new Problem(400, 'invalid_upload', `This upload cannot be read: ${what}. Nothing was stored; correct the request and send it again.`, { cause });
}

function tooManyParts(limits: UploadLimits): Problem {
  return new Problem(400, 'invalid_upload', `This upload has too many parts: at most ${limits.maxUploadFiles} files and ${MAX_FIELDS} fields. Nothing was stored; split it into several uploads.`, { extra: { limit: limits.maxUploadFiles } });
}

function uploadTooLarge(limit: number): Problem {
  return new Problem(413, 'file_too_large', `The files of this upload are larger than ${limit} bytes together. Nothing was stored; split it into several uploads.`, { extra: { limit } });
}

function stalled(silenceMs: number): Problem {
  return new Problem(408, 'upload_stalled', `Nothing of this upload arrived for ${silenceMs / 1000} seconds. Nothing was stored; send it again.`);
}
