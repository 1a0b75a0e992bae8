/**
 * Believable traffic for `npm start -- --demo`, through the public API alone: invented people upload theses with their sources as PDFs and ask for
 * analyses, upload papers (some scanned, locked or cut off), and publish their apps, at times three times at once. Runs until it is ended or its parent
 * is; what fails is said and left.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { passwordPdf, scannedPdf, truncatedPdf } from '../../tests/fixtures/pdfs.js';
import { Random } from '../../tests/fixtures/theses/random.js';
import { sourcePdf, thesisPdf } from '../../tests/fixtures/theses/thesis-pdf.js';
import { writeThesis, type ThesisText } from '../../tests/fixtures/theses/thesis-text.js';
import { authors } from '../../tests/fixtures/theses/vocabulary.js';
import type { Work } from '../../tests/fixtures/theses/works.js';
import { Client } from '../stage/client.js';

interface File { name: string; bytes: Buffer }

/** Between two people who begin something, and between two publishes (ms): the least, the most. */
const PEOPLE_MS = [1_500, 8_000] as const;
const PUBLISHES_MS = [5_000, 25_000] as const;
/** Work of so many people at the same time: this machine has other things to do. */
const MOST_AT_ONCE = 6;
const POLL_MS = 1_500;
const APPS = ['lern-app', 'mensaplan', 'kita-finder', 'open-lab', 'thesis-timer', 'campus-map'];

const random = new Random(Date.now() >>> 0);
const client = new Client({ addresses: () => [process.env.DEMO_URL!], token: process.env.DEMO_TOKEN!, limitMs: 30_000, pauseMs: 1_000 });
const never = () => false;
let under = 0;

for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, () => process.exit(0));
await Promise.all([again(PEOPLE_MS, () => (random.next() < 0.6 ? writesThesis() : collectsPapers())), again(PUBLISHES_MS, publishes)]);

async function again([least, most]: readonly [number, number], begin: () => Promise<void>): Promise<never> {
  for (;;) {
    if (under < MOST_AT_ONCE) {
      under += 1;
      void begin().catch((error: unknown) => process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`)).finally(() => { under -= 1; });
    }
    await pause(random.between(least, most));
  }
}

/** A thesis and some of what it cites; then its analysis, asked for as soon as the thesis has been read. */
async function writesThesis(): Promise<void> {
  const text = thesis();
  const person = someone();
  const works = text.works.filter(({ missing }) => !missing).slice(0, random.between(3, 8));
  const files = [{ name: text.language === 'de' ? 'Masterarbeit_final.pdf' : 'thesis-final.pdf', bytes: await thesisPdf(text) }, ...await Promise.all(works.map(paper))];
  const jobId = await upload(person, files);
  const thesisDocumentId = await client.poll(`/api/parse-jobs/${jobId}`, POLL_MS, ({ body }) => {
    const [first] = body.items as { state: string; documentId: string | null }[];
    if (first?.state === 'failed') throw new Error(`expected a thesis to be read, got ${JSON.stringify(first)}`);
    return first?.documentId ?? undefined;
  }, never);
  const answer = await client.insist({ method: 'POST', path: '/api/analysis-jobs', body: { ...person, thesisDocumentId }, key: randomUUID() }, never);
  await ended(`/api/analysis-jobs/${String(answer.body.jobId)}`);
}

async function collectsPapers(): Promise<void> {
  const files = await Promise.all(thesis().works.slice(0, random.between(1, 3)).map(paper));
  const poor: (() => Promise<File>)[] = [
    async () => ({ name: 'Scan 0001.pdf', bytes: await scannedPdf(3) }), async () => ({ name: 'locked.pdf', bytes: await passwordPdf() }), async () => ({ name: 'download (1).pdf', bytes: await truncatedPdf() }),
  ];
  if (random.next() < 0.25) files.push(await random.pick(poor)());
  await ended(`/api/parse-jobs/${await upload(someone(), files)}`);
}

/** Whoever does not see at once that something happens, presses again; and so does an agent. */
async function publishes(): Promise<void> {
  const app = random.pick(APPS);
  const from = random.next() < 0.3 ? ['button', 'tab', 'agent'] : ['button'];
  const answers = await Promise.all(from.map((requestedBy) =>
    client.insist({ method: 'POST', path: `/api/projects/${app}/publish`, body: { userId: `${app}@example.org`, slug: app, requestedBy }, key: randomUUID() }, never)));
  await Promise.all(answers.filter(({ status }) => status === 202).map(({ body }) => ended(`/api/deployments/${String(body.deploymentId)}/attempts/${String(body.attempt)}`)));
}

function thesis(): ThesisText {
  return writeThesis({ language: random.pick(['en', 'de']), style: random.pick(['author_year', 'numeric', 'footnotes']), seed: random.between(1, 1_000_000), citations: random.between(12, 40) });
}

function someone(): { userId: string; sessionId: string } {
  const [family, given] = random.pick(authors);
  const plain = (name: string) => name.normalize('NFKD').replace(/ß/g, 'ss').replace(/ø/gi, 'o').replace(/[^a-z]/gi, '').toLowerCase();
  return { userId: `${plain(given)}.${plain(family)}${random.between(1, 99)}@example.org`, sessionId: `session-${randomUUID().slice(0, 8)}` };
}

async function paper(work: Work): Promise<File> {
  return { name: `${work.authors[0]![0]} ${work.year}${work.suffix}.pdf`, bytes: await sourcePdf(work) };
}

async function upload(person: { userId: string; sessionId: string }, files: readonly File[]): Promise<string> {
  const answer = await client.insist({ method: 'POST', path: '/api/parse-sources', form: { fields: person, files }, key: randomUUID() }, never);
  if (answer.status !== 202) throw new Error(`expected an upload to be accepted, got ${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.body.jobId);
}

async function ended(path: string): Promise<void> {
  await client.poll(path, POLL_MS, ({ status, body }) => (status >= 400 || ['succeeded', 'failed', 'cancelled', 'live'].includes(String(body.state)) ? body : undefined), never);
}
