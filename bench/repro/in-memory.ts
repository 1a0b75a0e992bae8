/**
 * The old design, kept to show what the redeploy repro would find of it: one process receives, works and answers, and a map in it is the only place
 * where a job exists. It does the same real work: parses PDFs, reads claims, asks the model, asks for builds. Its drain finishes what it can in time.
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { textFromPages } from '../../server/citations/claims/document-text.js';
import { extractClaims } from '../../server/citations/claims/extract-claims.js';
import { createOrchestrator } from '../../server/deployments/orchestrator-client.js';
import { extractPdf } from '../../server/parse/extract.js';

type Job = Record<string, unknown> & { state: string };

const env = process.env as Record<string, string>;
const jobs = new Map<string, Job>();
const documents = new Map<string, string[]>();
const working = new Set<Promise<void>>();
const orchestrator = createOrchestrator({ url: env.ORCHESTRATOR_URL!, token: env.ORCHESTRATOR_TOKEN });
const never = new AbortController().signal;
/** Questions at once, looks at a build (ms). */
const AT_ONCE = 3;
const LOOK_MS = 500;

function begin(job: Job, work: () => Promise<void>): void {
  const run = work().catch((error: unknown) => void Object.assign(job, { state: 'failed', error: String(error) })).finally(() => working.delete(run));
  working.add(run);
}

async function parseSources(form: FormData): Promise<[number, Job]> {
  const files = form.getAll('files') as File[];
  const items = files.map((file) => ({ itemId: randomUUID(), filename: file.name, state: 'queued', documentId: null as string | null }));
  const job: Job = { state: 'running', jobId: randomUUID(), items };
  jobs.set(`/api/parse-jobs/${String(job.jobId)}`, job);
  begin(job, async () => {
    for (const [at, file] of files.entries()) {
      items[at]!.state = 'running';
      const { pages } = await extractPdf(Buffer.from(await file.arrayBuffer()), { signal: never, limits: { maxSeconds: 120, maxMemoryMb: 768, maxPages: 2000 } });
      const documentId = randomUUID();
      documents.set(documentId, pages.map((page) => page.text));
      Object.assign(items[at]!, { state: 'succeeded', documentId });
    }
    job.state = 'succeeded';
  });
  return [202, job];
}

function analyse({ thesisDocumentId }: { thesisDocumentId: string }): [number, Job] {
  const pages = documents.get(thesisDocumentId);
  if (!pages) return [404, { state: 'unknown', code: 'document_not_found' }];
  const job: Job = { state: 'running', jobId: randomUUID(), verdicts: [] };
  jobs.set(`/api/analysis-jobs/${String(job.jobId)}`, job);
  jobs.set(`/api/analysis-jobs/${String(job.jobId)}/report`, job);
  begin(job, async () => {
    const { claims, marks } = extractClaims(textFromPages(pages));
    const waiting = claims.flatMap((claim) => claim.marks.map((mark) => ({ claim, mark: marks[mark]! })));
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) (job.verdicts as unknown[]).push({ verdict: await judged(next.claim.sentence) });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    job.state = 'succeeded';
  });
  return [202, job];
}

async function judged(claim: string): Promise<string> {
  const response = await fetch(`${env.LLM_BASE_URL}/chat/completions`, {
    method: 'POST', signal: AbortSignal.timeout(60_000), headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: JSON.stringify({ claim, passages: [] }) }] }),
  });
  const { choices } = await response.json() as { choices: { message: { content: string } }[] };
  return (JSON.parse(choices[0]!.message.content) as { verdict: string }).verdict;
}

function publish(projectId: string): [number, Job] {
  const job: Job = { state: 'building', deploymentId: randomUUID(), attempt: 1 };
  jobs.set(`/api/deployments/${String(job.deploymentId)}/attempts/1`, job);
  begin(job, async () => {
    const buildId = await orchestrator.createBuild({ deploymentId: String(job.deploymentId), projectId, slug: projectId, publishNo: 1 }, never);
    for (;;) {
      const { state } = await orchestrator.readBuild(buildId, never);
      if (state !== 'building') return void Object.assign(job, { state: state === 'released' ? 'live' : 'failed' });
      await pause(LOOK_MS);
    }
  });
  return [202, job];
}

async function answer(req: http.IncomingMessage): Promise<[number, Job]> {
  const url = req.url ?? '';
  if (req.method === 'GET') return jobs.has(url) ? [200, jobs.get(url)!] : [404, { state: 'unknown', code: 'job_not_found' }];
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  const body = new Response(Buffer.concat(parts), { headers: { 'content-type': String(req.headers['content-type']) } });
  if (url === '/api/parse-sources') return parseSources(await body.formData() as unknown as FormData);
  if (url === '/api/analysis-jobs') return analyse(await body.json() as { thesisDocumentId: string });
  return publish(url.split('/')[3]!);
}

const server = http.createServer((req, res) => void answer(req)
  .then(([status, job]) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(job)))
  .catch(() => res.destroy()));
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`));

process.on('SIGTERM', () => {
  server.close();
  void Promise.race([Promise.all(working), pause(Number(env.DRAIN_SECONDS) * 1000)]).then(() => process.exit(0));
});
