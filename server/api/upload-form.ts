/**
 * Reads one multipart upload to disk. Bounded in everything a client decides: total, file, count, names, fields, silence. All or
 * nothing: the first fault ends the reading, the rest of the body is discarded, and no database connection is held meanwhile.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { MAX_NAME_CHARS, fileNameOf } from './file-name.js';
import { Problem } from './problem.js';
import { receiveFile, type ReceivedFile } from './receive-file.js';
import type { Room } from './spool.js';

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
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(req.headers['content-type'] ?? '')) return malformed('the body is not multipart/form-data with a boundary');
  return Number(req.headers['content-length'] ?? 0) > limits.maxUploadBytes + OVERHEAD_BYTES ? uploadTooLarge(limits.maxUploadBytes) : undefined;
}

type Form = InstanceType<typeof Busboy>;

class Reading {
  readonly done: Promise<UploadForm>;
  private readonly fields = new Map<string, string>();
  private readonly files: Promise<ReceivedFile>[] = [];
  private readonly streams = new Set<Readable>();
  private readonly form: Form;
  private parts = 0;
  private fileBytes = 0;
  private bodyBytes = 0;
  private silence: NodeJS.Timeout | undefined;
  private fail!: (error: unknown) => void;

  constructor(private readonly req: IncomingMessage, private readonly limits: UploadLimits, private readonly room: Room) {
    this.form = openForm(req, limits);
    this.done = new Promise<UploadForm>((resolve, reject) => {
      this.fail = reject;
      this.form.on('finish', () => this.complete().then(resolve, reject));
    });
    this.done.catch(() => this.stop());
    this.listen();
    req.pipe(this.form);
  }

  /** When nothing of this request writes any more. */
  async settled(): Promise<void> {
    clearTimeout(this.silence);
    await Promise.allSettled(this.files);
  }

  private listen(): void {
    const { form, req } = this;
    form.on('error', (error) => this.fail(error));
    form.on('field', (name, value, _nameCut, valueCut) => this.guard(() => this.takeField(name, value, valueCut)));
    form.on('file', (name, stream, filename) => this.guard(() => this.takeFile(name, stream, filename), stream));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) form.on(limit, () => this.fail(tooManyParts(this.limits)));
    req.on('data', (chunk: Buffer) => this.hear(chunk.length));
    req.once('error', (error) => this.fail(error));
    req.once('close', () => req.complete || this.fail(malformed('the connection closed before its end')));
    this.hear(0);
  }

  private guard(step: () => void, stream?: Readable): void {
    // Errors of a part that ends early arrive after we gave up on it; unheard they would end the process.
    stream?.on('error', () => undefined);
    try {
      step();
    } catch (error) {
      stream?.resume();
      this.fail(error);
    }
  }

  private hear(bytes: number): void {
    clearTimeout(this.silence);
    const silenceMs = this.limits.silenceMs ?? SILENCE_MS;
    this.silence = setTimeout(() => this.fail(stalled(silenceMs)), silenceMs).unref();
    this.bodyBytes += bytes;
    if (this.bodyBytes > this.limits.maxUploadBytes + OVERHEAD_BYTES) this.fail(uploadTooLarge(this.limits.maxUploadBytes));
  }

  private takeField(name: string | undefined, value: string, cut: boolean): void {
    this.parts += 1;
    if (!name) throw malformed('a part has no name');
    if (cut) throw malformed(`the field ${name.slice(0, 50)} is longer than ${MAX_FIELD_BYTES} bytes`);
    if (this.fields.has(name)) throw malformed(`the field ${name.slice(0, 50)} occurs twice`);
    this.fields.set(name, value);
  }

  private takeFile(field: string | undefined, stream: Readable, given: string | undefined): void {
    this.parts += 1;
    if (field !== 'files' && field !== 'files[]') throw malformed(`a file came in the field ${(field ?? '').slice(0, 50) || 'without a name'}; files belong in the field files`);
    const filename = fileNameOf(given);
    if (filename === null) throw malformed(`a file name is longer than ${MAX_NAME_CHARS} characters`);
    this.streams.add(stream);
    const to = { folder: this.room.folder, maxFileBytes: this.limits.maxFileBytes, count: (bytes: number) => this.countFileBytes(bytes) };
    const received = receiveFile(stream, filename, this.files.length, to).finally(() => this.streams.delete(stream));
    received.catch((error) => this.fail(error));
    this.files.push(received);
  }

  private countFileBytes(bytes: number): void {
    this.fileBytes += bytes;
    if (this.fileBytes > this.limits.maxUploadBytes) throw uploadTooLarge(this.limits.maxUploadBytes);
    this.room.take(bytes);
  }

  private async complete(): Promise<UploadForm> {
    const files = await Promise.all(this.files);
    // The parser passes over parts that it cannot name (no Content-Disposition, line breaks in a name); we do not.
    const seen = (this.form as unknown as { _parser?: { _nparts?: number } })._parser?._nparts;
    if (seen !== this.parts) throw malformed('a part could not be read; each needs a Content-Disposition with a name, and names have no line breaks');
    if (files.length === 0) throw new Problem(400, 'invalid_upload', 'This upload contains no file. Send at least one PDF in the field files.');
    return { fields: this.fields, files };
  }

  private stop(): void {
    this.req.unpipe(this.form);
    for (const stream of this.streams) stream.destroy(new Error('The upload was given up.'));
    discardRest(this.req, this.limits);
  }
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

function openForm(req: IncomingMessage, limits: UploadLimits): Form {
  return new Busboy({
    headers: req.headers as BusboyHeaders,
    preservePath: true,
    isPartAFile: (field, type, filename) => filename !== undefined || field === 'files' || field === 'files[]' || type === 'application/pdf',
    limits: {
      files: limits.maxUploadFiles,
      fields: MAX_FIELDS,
      parts: limits.maxUploadFiles + MAX_FIELDS,
      fieldSize: MAX_FIELD_BYTES,
      fileSize: limits.maxFileBytes + 1,
      headerPairs: 20,
      headerSize: 16 * 1024,
    },
  });
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
