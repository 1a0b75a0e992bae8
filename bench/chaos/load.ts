/**
 * What the product's backend asks for meanwhile, through the public API: uploads, theses that are analysed, publishes by several at once, cancels.
 * Everything that was accepted is remembered and must come to a good end. Files and their order come from the seed; which call meets which fault does not.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { kick } from '../../server/bus/kick.js';
import { inTransaction } from '../../server/db/connection.js';
import { cancel } from '../../server/lease/cancel.js';
import { analysisJobs, parseJobs, type QueueDefinition } from '../../server/lease/queues.js';
import { Random } from '../../tests/fixtures/theses/random.js';
import { sourcePdf, thesisPdf } from '../../tests/fixtures/theses/thesis-pdf.js';
import { writeThesis } from '../../tests/fixtures/theses/thesis-text.js';
import { rawPdf, textContent } from '../../tests/fixtures/raw-pdf.js';
import { Client } from '../stage/client.js';
import type { Stage } from './stage.js';

export interface Accepted {
  /** Parse jobs. A file whose name says that it is broken must fail for what it is; all others succeed, unless cancelled. */
  uploads: { jobId: string; items: { itemId: string; filename: string }[]; cancelled: boolean }[];
  analyses: { jobId: string; cancelled: boolean }[];
  publishes: { deploymentId: string; attempt: number }[];
}

/** Sources of a thesis that are uploaded; the others are found missing. */
const SOURCES = 3;
const CITATIONS = 14;
const PROJECTS = 6;
/** Flows under way at the same time: a slow machine is not to drown. */
const MOST_AT_ONCE = 14;
/** Once the faults are over, something must end at least this often (ms) until all has: a slow machine may take its time, but not stand still. */
const QUIET_MS = 120_000;
const LOOK_MS = 1_000;

export class Load {
  readonly accepted: Accepted = { uploads: [], analyses: [], publishes: [] };
  readonly offences: string[] = [];
  readonly client: Client;
  private readonly random: Random;
  private readonly flows = new Set<Promise<void>>();
  private until = Infinity;
  private stopped = false;
  private serial = 0;

  constructor(private readonly stage: Stage, seed: number) {
    this.random = new Random(seed ^ 0x10ad);
    this.client = new Client({ addresses: () => stage.fleet.webAddresses, token: stage.token, limitMs: 20_000, pauseMs: 400 });
  }

  /** Begins something new every now and then until it is stopped. */
  async run(): Promise<void> {
    while (!this.stopped) {
      const draw = this.random.next();
      if (this.flows.size < MOST_AT_ONCE) this.begin(draw);
      await pause(800 + 2_000 * this.random.next());
    }
  }

  /** Begins nothing any more; resolves when what was begun has ended, or when nothing ends any more. */
  async finish(): Promise<void> {
    this.stopped = true;
    let ends = -1;
    while (this.flows.size > 0) {
      const now = await this.ends().catch(() => ends);
      if (now !== ends) this.until = performance.now() + QUIET_MS;
      ends = now;
      await pause(LOOK_MS);
    }
  }

  /** How many rows have ended so far. */
  private async ends(): Promise<number> {
    const { rows } = await this.stage.admin.query<{ n: number }>(`select count(*)::int as n from queue_events where to_state in ('succeeded', 'failed', 'cancelled', 'live')`);
    return rows[0]!.n;
  }

  private begin(draw: number): void {
    const n = ++this.serial;
    const flow = (draw < 0.5 ? this.upload(n) : draw < 0.6 ? this.analysis(n) : this.publishing(n))
      .catch((error: unknown) => void this.offences.push(error instanceof Error ? error.message : String(error)))
      .finally(() => this.flows.delete(flow));
    this.flows.add(flow);
  }

  private readonly tooLate = () => performance.now() > this.until;

  private async send(n: number, files: { name: string; bytes: Buffer }[]): Promise<{ user: string; upload: Accepted['uploads'][number] }> {
    const user = `user-${n}`;
    const answer = await this.client.insist({ method: 'POST', path: '/api/parse-sources', form: { fields: { userId: user, sessionId: `session-${n}` }, files }, key: randomUUID() }, this.tooLate);
    if (answer.status !== 202) throw new Error(`expected an upload to be accepted, got ${answer.status} ${JSON.stringify(answer.body)}`);
    const upload = { jobId: answer.body.jobId as string, items: answer.body.items as { itemId: string; filename: string }[], cancelled: false };
    this.accepted.uploads.push(upload);
    return { user, upload };
  }

  private async upload(n: number): Promise<void> {
    const files = Array.from({ length: this.random.between(1, 2) }, (_, at) => smallFile(n, at, this.random.next() < 0.1));
    const wanted = this.random.next() < 0.12;
    const { upload } = await this.send(n, files);
    if (wanted) upload.cancelled = await this.cancelRow(parseJobs, upload.jobId);
    await this.endOf(`/api/parse-jobs/${upload.jobId}`);
  }

  private endOf(path: string): Promise<Record<string, unknown>> {
    return this.client.poll(path, 500, ({ status, body }) => {
      if (status === 404) throw new Error(`expected ${path} to be known, got 404`);
      return ['succeeded', 'failed', 'cancelled', 'live'].includes(String(body.state)) ? body : undefined;
    }, this.tooLate);
  }

  private async analysis(n: number): Promise<void> {
    const text = writeThesis({ language: 'en', style: 'author_year', seed: n, citations: CITATIONS });
    const sources = text.works.filter(({ missing }) => !missing).slice(0, SOURCES);
    const wanted = this.random.next() < 0.2;
    const files = [{ name: 'thesis.pdf', bytes: await thesisPdf(text) }, ...await Promise.all(sources.map(async (work) => ({ name: `${work.id}.pdf`, bytes: await sourcePdf(work) })))];
    const { user, upload } = await this.send(n, files);
    const thesisId = await this.client.poll(`/api/parse-jobs/${upload.jobId}`, 500, ({ body }) => {
      const items = (body.items ?? []) as { filename: string; state: string; documentId: string | null }[];
      const thesis = items.find(({ filename }) => filename === 'thesis.pdf');
      if (thesis?.state === 'failed') throw new Error(`expected a thesis to be read, got ${JSON.stringify(thesis)}`);
      return thesis?.documentId ?? undefined;
    }, this.tooLate);
    const call = { method: 'POST' as const, path: '/api/analysis-jobs', body: { userId: user, sessionId: `session-${n}`, thesisDocumentId: thesisId }, key: randomUUID() };
    const answer = await this.client.insist(call, this.tooLate);
    if (answer.status !== 202) throw new Error(`expected an analysis to be accepted, got ${answer.status} ${JSON.stringify(answer.body)}`);
    const job = { jobId: answer.body.jobId as string, cancelled: false };
    this.accepted.analyses.push(job);
    if (wanted) {
      await pause(1_000);
      job.cancelled = await this.cancelRow(analysisJobs, job.jobId);
    }
    await this.endOf(`/api/analysis-jobs/${job.jobId}`);
  }

  /** Three at once for one of a few apps; at times one of them thinks better of it. */
  private async publishing(n: number): Promise<void> {
    const project = `app-${n % PROJECTS}`;
    const wanted = this.random.next() < 0.2;
    const answers = await Promise.all((['button', 'tab', 'agent'] as const).map((requestedBy) =>
      this.client.insist({ method: 'POST', path: `/api/projects/${project}/publish`, body: { userId: 'user', slug: project, requestedBy }, key: randomUUID() }, this.tooLate)));
    for (const { status, body } of answers) {
      if (status === 202) this.accepted.publishes.push({ deploymentId: body.deploymentId as string, attempt: body.attempt as number });
      else if (body.code !== 'publish_in_progress') this.offences.push(`a publish was answered ${status} ${JSON.stringify(body)}`);
    }
    const won = answers.find(({ status }) => status === 202);
    if (wanted && won) await this.client.insist({ method: 'POST', path: `/api/deployments/${String(won.body.deploymentId)}/cancel`, body: { attempt: won.body.attempt } }, this.tooLate);
    for (const { body } of answers) if (body.deploymentId) await this.endOf(`/api/deployments/${String(body.deploymentId)}/attempts/${String(body.attempt)}`);
  }

  /** As an operator's action does it: one transaction, and a kick that names the leases that are gone. @returns whether anything was cancelled. */
  private async cancelRow(queue: QueueDefinition, id: string): Promise<boolean> {
    for (;;) {
      try {
        return await inTransaction(this.stage.admin, async (tx) => {
          const { rows, lost } = await cancel(tx, queue, [id], 'Cancelled in a chaos run.');
          await kick(tx, { kickChannel: 'leaseboard_kick' }, { lost });
          return rows.length > 0;
        });
      } catch (error) {
        if (this.tooLate()) throw error;
        await pause(300);
      }
    }
  }
}

/** A file that is read in a moment, or that breaks off. */
function smallFile(n: number, at: number, broken: boolean): { name: string; bytes: Buffer } {
  if (broken) return { name: `broken-${at}.pdf`, bytes: Buffer.from(`%PDF-1.7\n${n} ${at} and nothing more`) };
  return { name: `good-${at}.pdf`, bytes: rawPdf([{ content: textContent([`File ${at} of upload ${n} in a run of chaos.`, 'It has two lines of text.']) }]) };
}
