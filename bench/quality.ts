/** How good the verdicts are: precision and recall a class against the answer key of generated theses, from the PDF to the verdict. */
import { createRetrieval, type Retrieval } from '../server/citations/retrieval/retrieval.js';
import type { Judge, JudgedPassage, Judgement } from '../server/citations/judge/judge.js';
import { modelJudge } from '../server/citations/judge/model-judge.js';
import { offlineJudge } from '../server/citations/judge/offline-judge.js';
import { documentText, pageStarts } from '../server/parse/chunks.js';
import { offlineEmbedder } from '../server/sources/offline-embedder.js';
import type { Verdict } from '../tests/fixtures/theses/works.js';
import { knowing, lies, modelStub, type ModelStub, type StubAnswer } from '../tests/support/model-stub.js';
import { atLeast, goalTable, table, type Goal, type Report } from './report.js';
import { paraphrases, unseen, type Paraphrase } from './quality-paraphrases.js';
import { uploadThesis, type UploadedThesis } from './quality-theses.js';
import { startBenchServer } from './server.js';

const CLASSES: Verdict[] = ['supported', 'partly_supported', 'not_supported', 'source_missing'];
const CITATIONS = 40;
/** Fixed, so that two runs can be compared. The offline judge was looked at with it: what it does on other wordings, the paraphrases say. */
const SEED = 101;
const never = new AbortController().signal;

interface Checked {
  planted: Verdict;
  given: Verdict;
  judgement?: Judgement;
  thesis: UploadedThesis;
}

export async function run(): Promise<Report> {
  const server = await startBenchServer();
  const stub = await modelStub();
  try {
    const embedder = offlineEmbedder();
    const retrieval = createRetrieval({ pool: server.pool, embedder, config: { sourceCacheTtlSeconds: 600 } });
    const theses: UploadedThesis[] = [];
    for (const language of ['de', 'en'] as const) for (const style of ['author_year', 'numeric', 'alpha', 'footnotes'] as const) theses.push(await uploadThesis(server, embedder, { language, style, seed: SEED, citations: CITATIONS }));
    return report(theses, await measure(theses, retrieval, stub));
  } finally {
    await stub.close();
    await server.stop();
  }
}

interface Measured {
  judge: string;
  checked: Checked[];
}

async function measure(theses: UploadedThesis[], retrieval: Retrieval, stub: ModelStub): Promise<Measured[]> {
  const model = modelJudge({ baseUrl: stub.baseUrl, model: 'stub', firstPauseMs: 1 });
  const key = new Map(theses.flatMap(({ claims }) => claims).flatMap(({ text, planted }) => (planted === 'source_missing' ? [] : [[text, planted] as const])));
  const knows = knowing((claim) => key.get(claim));
  let turn = 0;
  const liar: StubAnswer = (asked, response) => (asked.turn === 0 && turn++ % 3 !== 0 ? knows(asked, response) : lies(asked, response));
  const measured = [{ judge: 'offline-lexical', checked: await check(theses, retrieval, offlineJudge()) }];
  stub.behave(knows);
  measured.push({ judge: 'stub model that knows', checked: await check(theses, retrieval, model) });
  stub.behave(liar);
  measured.push({ judge: 'stub model, every third answer invents its quote', checked: await check(theses, retrieval, model) });
  return measured;
}

async function check(theses: UploadedThesis[], retrieval: Retrieval, judge: Judge): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const thesis of theses) {
    for (const { text, mark, documentId, planted } of thesis.claims) {
      if (documentId === null) {
        checked.push({ planted, given: 'source_missing', thesis });
        continue;
      }
      const claim = { text, mark };
      const passages = await retrieval.passagesFor({ ...thesis, claim, documentId }, never);
      const judgement = await judge.judge(claim, passages, never);
      checked.push({ planted, given: judgement.verdict, judgement, thesis });
    }
  }
  return checked;
}

async function report(theses: UploadedThesis[], measured: Measured[]): Promise<Report> {
  const byHand = [{ judge: 'offline-lexical, paraphrases by hand', checked: await judgeAll(paraphrases) }, { judge: 'offline-lexical, paraphrases never looked at', checked: await judgeAll(unseen) }];
  const shown = [...measured, ...byHand];
  const rows = shown.flatMap(({ judge, checked }) => CLASSES.filter((verdict) => checked.some(({ planted }) => planted === verdict)).map((verdict) => {
    const { planted, precision, recall } = quality(checked, verdict);
    return [judge, verdict, String(planted), precision.toFixed(3), recall.toFixed(3)];
  }));
  const lost = theses.reduce((sum, thesis) => sum + thesis.lost, 0);
  const claims = theses.reduce((sum, thesis) => sum + thesis.claims.length, 0);
  const goals = goalsOf(measured);
  const text = `${claims} claims read out of ${theses.length} generated theses (PDF), ${lost} planted ones not found\n\n${table(['judge', 'class', 'planted', 'precision', 'recall'], rows)}\n\n${goalTable(goals)}`;
  return { name: 'quality', text, figures: { claims, lost, rows }, goals };
}

function quality(checked: readonly { planted: Verdict; given: Verdict }[], verdict: Verdict) {
  const planted = checked.filter((one) => one.planted === verdict);
  const given = checked.filter((one) => one.given === verdict);
  const both = planted.filter((one) => one.given === verdict).length;
  return { planted: planted.length, precision: given.length > 0 ? both / given.length : 1, recall: planted.length > 0 ? both / planted.length : 1 };
}

function goalsOf([offline, knows, liar]: Measured[]): Goal[] {
  const worst = (checked: readonly Checked[]) => Math.min(...CLASSES.flatMap((verdict) => [quality(checked, verdict).precision, quality(checked, verdict).recall]));
  const all = [offline!, knows!, liar!].flatMap(({ checked }) => checked);
  return [
    atLeast('offline judge: worst precision or recall of a class', worst(offline!.checked), 0.9),
    atLeast('stub model that knows: worst of a class', worst(knows!.checked), 0.95),
    atLeast('evidence that stands, to the character, on the page it names', shareOf(all.flatMap(({ thesis, judgement }) => (judgement?.evidence ?? []).map((one) => standsThere(thesis, one)))), 1),
    atLeast('lying model: support that has a found quote', shareOf(liar!.checked.filter(({ given }) => given === 'supported' || given === 'partly_supported').map(({ judgement }) => (judgement?.evidence.length ?? 0) > 0)), 1),
  ];
}

function shareOf(facts: readonly boolean[]): number {
  return facts.length === 0 ? 1 : facts.filter(Boolean).length / facts.length;
}

function standsThere({ pages }: UploadedThesis, { documentId, charFrom, charTo, quote, page }: Judgement['evidence'][number]): boolean {
  const texts = pages.get(documentId) ?? [];
  const start = pageStarts(texts)[page - 1] ?? Infinity;
  return documentText(texts).slice(charFrom, charTo) === quote && charFrom >= start && charFrom < start + (texts[page - 1]?.length ?? 0);
}

async function judgeAll(paraphrases: readonly Paraphrase[]): Promise<{ planted: Verdict; given: Verdict }[]> {
  const judge = offlineJudge();
  return Promise.all(paraphrases.map(async ({ source, claim, verdict }) => {
    const passage: JudgedPassage = { documentId: 'd', ordinal: 0, body: source, pageFrom: 1, pageTo: 1, charFrom: 0, charTo: source.length, pageStarts: null };
    return { planted: verdict, given: (await judge.judge({ text: claim }, [passage], never)).verdict };
  }));
}
