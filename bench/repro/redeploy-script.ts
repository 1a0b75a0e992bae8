/**
 * The script that both systems are put through, by way of the public API alone: per phase four files, an analysis and a publish are brought into
 * flight, the redeploy happens, and every one of them is followed to its end. The model and the orchestrator hold still until the switch, so that
 * the work is in flight then; after it some questions are answered soon and some take longer than a drain.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { startStubOrchestrator, type StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { sourcePdf, thesisPdf } from '../../tests/fixtures/theses/thesis-pdf.js';
import { writeThesis } from '../../tests/fixtures/theses/thesis-text.js';
import { slowPdf } from '../../tests/lifecycle/slow-pdfs.js';
import { knowing, modelStub, type ModelStub } from '../../tests/support/model-stub.js';
import { Client, type Answer } from '../stage/client.js';
import type { Phase } from './redeploy.js';
import type { System } from './redeploy-systems.js';

export interface Outside {
  orchestrator: StubOrchestrator;
  model: ModelStub;
}

export interface PhaseOutcome {
  phase: string;
  by: Phase;
  /** On the database's clock, as it writes it; null where there is no database. */
  switchedAt: string | null;
  outgoing: readonly string[];
  jobIds: string[];
  analysisId: string;
  deploymentId: string;
  accepted: number;
  ended: number;
  /** Accepted, and then answered with 404. */
  gone: number;
  neverEnded: number;
  newUploads: number;
  callsSentAgain: number;
  analysisClaims: number;
  good: boolean;
}

export interface Script extends Outside {
  /** Uploads thesis and sources. @returns how many claims there are: a sentence and a cited work each. */
  prepare(system: System): Promise<number>;
  run(system: System, phase: Phase): Promise<PhaseOutcome>;
  builds(): StubOrchestrator['builds']['counts'];
  close(): Promise<void>;
}

const CITATIONS = 80;
const FILES = 4;
const PAGES = 3;
const OWNER = { userId: 'student', sessionId: 'session' };
/** A build ends so long after the switch: later than a drain (ms). */
const BUILD_MS = 9_000;
/** Most questions are answered soon; every fourth of the first that are asked takes longer than a drain (ms). */
const SOON_MS = 250;
const LONG_MS = 7_000;
const FIRST = 12;
/** Until something is in flight, and until everything has ended (ms). */
const WAIT_MS = 120_000;

export async function openScript(): Promise<Script> {
  const orchestrator = await startStubOrchestrator({ token: 'redeploy', behaviour: { buildMs: null } });
  const model = await modelStub();
  const thesis = writeThesis({ language: 'en', style: 'author_year', seed: 11, citations: CITATIONS });
  const files = [{ name: 'thesis.pdf', bytes: await thesisPdf(thesis) }];
  for (const work of thesis.works.filter(({ missing }) => !missing)) files.push({ name: `${work.id}.pdf`, bytes: await sourcePdf(work) });
  const gate = new Gate();
  const knows = knowing((claim) => thesis.key.find(({ sentence }) => sentence === claim)?.verdict as 'supported' | undefined);
  model.behave(async (asked, response) => {
    await gate.pass(asked.claim);
    if (!response.destroyed) await knows(asked, response);
  });
  let thesisId = '';

  async function upload(client: Client): Promise<void> {
    const jobId = await accepted(client, { method: 'POST', path: '/api/parse-sources', form: { fields: OWNER, files }, key: randomUUID() }, 'jobId');
    const job = await endOf(client, `/api/parse-jobs/${jobId}`);
    thesisId = ((job?.body.items ?? []) as { filename: string; documentId: string }[]).find(({ filename }) => filename === 'thesis.pdf')?.documentId ?? '';
    if (!thesisId) throw new Error(`expected the thesis to be read, got ${JSON.stringify(job?.body)}`);
  }

  async function startAnalysis(client: Client, counts: { newUploads: number }): Promise<string> {
    const call = () => client.insist({ method: 'POST', path: '/api/analysis-jobs', body: { ...OWNER, thesisDocumentId: thesisId }, key: randomUUID() }, () => false);
    let answer = await call();
    if (answer.status === 404 || answer.body.code === 'sources_unavailable') {
      counts.newUploads += 1;
      await upload(client);
      answer = await call();
    }
    if (answer.status !== 202) throw new Error(`expected an analysis to be accepted, got ${answer.status} ${JSON.stringify(answer.body)}`);
    return String(answer.body.jobId);
  }

  return {
    orchestrator, model,
    builds: () => orchestrator.builds.counts,
    async prepare(system) {
      await upload(clientOf(system));
      return thesis.key.length;
    },
    async run(system, by) {
      const client = clientOf(system);
      const counts = { newUploads: 0 };
      const app = `app-${by.what}-${by.signal.toLowerCase()}`;
      gate.close();
      const analysisId = await startAnalysis(client, counts);
      await until('questions to the model', () => gate.waiting > 0);
      const send = (n: number) => ({ method: 'POST' as const, path: '/api/parse-sources', form: { fields: { userId: `${app}-${n}`, sessionId: OWNER.sessionId }, files: Array.from({ length: FILES }, (_, at) => ({ name: `${at}.pdf`, bytes: slowPdf(PAGES) })) }, key: randomUUID() });
      const deploymentId = await accepted(client, { method: 'POST', path: `/api/projects/${app}/publish`, body: { userId: OWNER.userId, slug: app, requestedBy: 'button' }, key: randomUUID() }, 'deploymentId');
      await until('a build', () => orchestrator.builds.running.some((build) => build.slug === app));
      const jobIds = [await accepted(client, send(1), 'jobId')];
      await client.poll(`/api/parse-jobs/${jobIds[0]}`, 50, ({ body }) => (body.items as { state: string }[]).some(({ state }) => state !== 'queued') || undefined, () => false);

      let switchedAt: string | null = null;
      let outgoing: readonly string[] = [];
      let meanwhile: Promise<string> | undefined;
      await system.redeploy(by, async (workers) => {
        outgoing = workers;
        switchedAt = system.database ? (await system.database.query<{ at: string }>('select clock_timestamp()::text as at')).rows[0]!.at : null;
        meanwhile = accepted(client, send(2), 'jobId'); // is being received when the signal comes
        gate.open();
        setTimeout(() => orchestrator.builds.running.filter((build) => build.slug === app).forEach(({ buildId }) => orchestrator.builds.finish(buildId)), BUILD_MS);
      });
      jobIds.push(await meanwhile!);
      const paths = [...jobIds.map((id) => `/api/parse-jobs/${id}`), `/api/analysis-jobs/${analysisId}`, `/api/deployments/${deploymentId}/attempts/1`];
      const ends = await Promise.all(paths.map((one) => endOf(client, one)));
      const well = ends.filter((end) => ['succeeded', 'live'].includes(String(end?.body.state)) && goodItems(end!.body));
      const gone = ends.filter((end) => end?.status === 404).length;
      const report = await client.once({ method: 'GET', path: `/api/analysis-jobs/${analysisId}/report` }, system.addresses()[0]!);
      const analysisClaims = report?.status === 200 ? ((report.body.verdicts ?? []) as { verdict: string }[]).filter(({ verdict }) => verdict !== 'not_checked').length : 0;
      const newUploads = counts.newUploads + ends.slice(0, jobIds.length).filter((end) => end?.status === 404).length;
      return {
        phase: `${by.what} by ${by.signal}`, by, switchedAt, outgoing, jobIds, analysisId, deploymentId, accepted: ends.length, ended: well.length, gone,
        neverEnded: ends.filter((end) => end === undefined).length, newUploads, callsSentAgain: client.sentAgain, analysisClaims,
        good: well.length === ends.length && newUploads === 0 && analysisClaims === thesis.key.length,
      };
    },
    async close() {
      gate.open();
      await Promise.all([orchestrator.close(), model.close()]);
    },
  };
}

const clientOf = (system: System) => new Client({ addresses: () => system.addresses(), token: system.token, limitMs: 30_000, pauseMs: 200 });

async function accepted(client: Client, call: Parameters<Client['insist']>[0], name: string): Promise<string> {
  const answer = await client.insist(call, () => false);
  if (answer.status !== 202) throw new Error(`expected ${call.path} to be accepted, got ${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.body[name]);
}

/** The end, or that nobody knows of it (404), or undefined when none came. */
async function endOf(client: Client, path: string): Promise<Answer | undefined> {
  const latest = performance.now() + WAIT_MS;
  return client.poll(path, 200, (answer) => (answer.status === 404 || ['succeeded', 'failed', 'cancelled', 'live'].includes(String(answer.body.state)) ? answer : undefined), () => performance.now() > latest)
    .catch(() => undefined);
}

function goodItems(body: Answer['body']): boolean {
  return ((body.items ?? []) as { state: string; documentId: string | null }[]).every(({ state, documentId }) => state === 'succeeded' && documentId !== null);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const latest = performance.now() + WAIT_MS;
  while (!holds()) {
    if (performance.now() > latest) throw new Error(`expected ${what} within ${WAIT_MS / 1000} s, got none`);
    await pause(20);
  }
}

/** Closed: every question waits. Open: it is answered after a while; a question that is asked a second time, soon. */
class Gate {
  waiting = 0;
  private closed: { promise: Promise<void>; open: () => void } | undefined;
  private readonly asked = new Set<string>();
  private count = 0;

  close(): void {
    let open = () => {};
    this.closed = { promise: new Promise<void>((resolve) => { open = resolve; }), open };
    this.waiting = 0;
    this.asked.clear();
    this.count = 0;
  }

  open(): void {
    this.closed?.open();
    this.closed = undefined;
  }

  async pass(claim: string): Promise<void> {
    const long = !this.asked.has(claim) && this.count < FIRST && this.count % 4 === 0;
    this.count += 1;
    this.asked.add(claim);
    this.waiting += 1;
    await this.closed?.promise;
    this.waiting -= 1;
    await pause(long ? LONG_MS : SOON_MS);
  }
}
