/** A product backend: uploads files through the public API of a web process and asks how far they are. */
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import type pg from 'pg';
import { createApiToken } from '../../server/operations/accounts.js';
import { file, owner, upload } from '../api/uploads.js';
import { until } from '../support/until.js';

export interface UploadedItem {
  itemId: string;
  filename: string;
}

export interface JobSeen {
  state: string;
  items: { itemId: string; filename: string; state: string; documentId: string | null; error: { code: string } | null }[];
}

export interface Backend {
  /** Each call is another user's, so that no cap is met. Tries again where the service is away, as any backend would. */
  uploads(files: { name: string; bytes: Buffer }[], to: string): Promise<{ jobId: string; items: UploadedItem[] }>;
  /** Sends the beginning of an upload and no more. */
  beginUpload(to: string): net.Socket;
  /** Polls until the job has ended. */
  outcome(jobId: string, from: string): Promise<JobSeen>;
}

const OUTCOME_MS = 120_000;

export async function startBackend(pool: pg.Pool): Promise<Backend> {
  const token = await createApiToken(pool, `backend ${randomUUID()}`);
  if (!token) throw new Error('The token was not made');
  const headers = { authorization: `Bearer ${token}` };
  return {
    async uploads(files, to) {
      const user = randomUUID();
      const answer = await until(
        () => upload(to, token, { userId: user, sessionId: user, files }, { 'idempotency-key': user }).then((got) => got.status < 500 && got, () => false as const),
        { timeoutMs: 30_000, what: 'an answer to the upload' });
      if (answer.status !== 202) throw new Error(`expected 202, got ${answer.status}: ${JSON.stringify(answer.body)}`);
      return { jobId: answer.body.jobId!, items: answer.body.items! };
    },
    beginUpload(to) {
      const { hostname, port } = new URL(to);
      const begun = Buffer.concat([owner, file('filename="half.pdf"', Buffer.alloc(100_000, '%PDF-1.7\n'))]);
      const socket = net.connect(Number(port), hostname).on('error', () => {});
      socket.write(`POST /api/parse-sources HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: 1000000\r\n\r\n`);
      socket.write(begun);
      return socket;
    },
    outcome(jobId, from) {
      return until(async () => {
        const response = await fetch(`${from}/api/parse-jobs/${jobId}`, { headers }).catch(() => undefined);
        const job = response?.ok && await response.json() as JobSeen;
        return job && ['succeeded', 'failed', 'cancelled'].includes(job.state) && job;
      }, { timeoutMs: OUTCOME_MS, what: `the end of job ${jobId}` });
    },
  };
}
