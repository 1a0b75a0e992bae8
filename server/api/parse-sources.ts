/** POST /api/parse-sources: receive to disk, then stage in one transaction. The order of its refusals is the order of this file. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errorCode } from '../db/connection-errors.js';
import { parseItems, parseJobs } from '../lease/queues.js';
import { readIdempotencyKey, type IdempotentRequest } from './idempotency.js';
import { Problem } from './problem.js';
import type { ReceivedFile } from './receive-file.js';
import type { Spool } from './spool.js';
import { stageUpload, totalBytes, type StagedUpload, type Staging } from './stage-upload.js';
import type { ApiCaller } from './token.js';
import { Budget, Lines } from './turns.js';
import { readOwner, type UploadOwner } from './upload-fields.js';
import { readUploadForm, type UploadLimits } from './upload-form.js';

export const PARSE_SOURCES_PATH = '/api/parse-sources';

/** File bytes being written to the database at once, in one process (the driver holds a file about four times while it does). */
const WRITING_BYTES = 64 * 1024 * 1024;

export interface UploadDesk {
  /** Answers one upload. `closed` ends the wait of a client that has gone. Throws Problems. */
  receive(req: IncomingMessage, caller: ApiCaller, closed: AbortSignal): Promise<{ status: number; body: StagedUpload; replayed: boolean }>;
}

/** One a process: it bounds the memory and the connections that all uploads together may take. */
export function openUploadDesk(parts: { staging: Staging; spool: Spool; limits: UploadLimits }): UploadDesk {
  const users = new Lines();
  const writing = new Budget(WRITING_BYTES);
  return {
    async receive(req, caller, closed) {
      const key = readIdempotencyKey(req.headers['idempotency-key'] as string | undefined);
      const room = await parts.spool.room();
      try {
        const form = await readUploadForm(req, parts.limits, room);
        const upload = { owner: readOwner(form.fields), files: form.files };
        const request = key === undefined ? undefined : { tokenId: caller.tokenId, path: PARSE_SOURCES_PATH, key, bodySha256: bodyHash(upload) };
        return await users.run(upload.owner.userId, () => writing.run(largest(upload.files), () => stageFor(parts.staging, { ...upload, request }, closed)));
      } finally {
        await room.clear();
      }
    },
  };
}

async function stageFor(staging: Staging, upload: { owner: UploadOwner; files: ReceivedFile[]; request?: IdempotentRequest }, closed: AbortSignal) {
  closed.throwIfAborted();
  try {
    const { status, response, replayed } = await stageUpload(staging, upload);
    const body = response as StagedUpload;
    if (!replayed) announce(staging, body);
    return { status, body, replayed };
  } catch (error) {
    throw errorCode(error) === '55P03' ? userBusy(error) : error;
  }
}

function announce(staging: Staging, { jobId, items }: StagedUpload): void {
  staging.changed(parseJobs.table, [jobId]);
  staging.changed(parseItems.table, items.map((item) => item.itemId));
}

function largest(files: readonly ReceivedFile[]): number {
  return Math.max(...files.map((file) => file.byteSize));
}

/** What makes two uploads the same request: fields, file names and contents, in order. */
function bodyHash({ owner, files }: { owner: UploadOwner; files: readonly ReceivedFile[] }): Buffer {
  const described = [owner.userId, owner.sessionId, owner.userEmail, files.map((file) => [file.filename, file.sha256.toString('hex')])];
  return createHash('sha256').update(JSON.stringify(described)).update(String(totalBytes(files))).digest();
}

function userBusy(cause: unknown): Problem {
  return new Problem(503, 'uploads_busy', 'Other uploads of this user are being stored right now. Nothing of this one was stored; send it again in a few seconds.', { headers: { 'Retry-After': '5' }, cause });
}
