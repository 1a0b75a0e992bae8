/**
 * `npx tsx bench/quality-claims.ts FOLDER THESIS.pdf`: how well a thesis's citations are read, with the folder's other PDFs as its uploaded
 * sources. Prints figures and what was not resolved.
 */
import fs from 'node:fs';
import path from 'node:path';
import { textFromPages } from '../server/citations/claims/document-text.js';
import { extractClaims } from '../server/citations/claims/extract-claims.js';
import { matchDocuments } from '../server/citations/claims/match-documents.js';
import { extractPdf } from '../server/parse/extract.js';

const GOAL = 0.95;
const [folder, thesis] = process.argv.slice(2);
if (!folder || !thesis) {
  process.stderr.write('expected FOLDER and THESIS.pdf, for example papers sandwich-CL.pdf\n');
  process.exit(2);
}
process.exit(await report(folder, thesis) ? 0 : 1);

async function report(folder: string, thesis: string): Promise<boolean> {
  const document = textFromPages(await pagesOf(path.join(folder, thesis)));
  const times = [0, 1, 2].map(() => timed(() => extractClaims(document)));
  const { value: result } = times[0]!;
  const { marks } = result.summary;
  const { seen, resolved } = marks.byKind.author_year;
  print(`${thesis}: ${document.pages.length} pages, ${document.text.length} characters, ${result.bibliography.length} entries, ${result.summary.sentences} sentences, ${result.claims.length} claims`);
  print(`claims read in ${times.map(({ ms }) => ms.toFixed(0)).join(', ')} ms`);
  print(`author–year marks: ${resolved} of ${seen} resolved (${(100 * resolved / Math.max(1, seen)).toFixed(1)} %, goal ${100 * GOAL} %); all marks: ${marks.resolved} of ${marks.seen}; in headings: ${marks.inHeadings}`);
  for (const mark of result.marks.filter(({ entry }) => entry === null)) print(`  unresolved on page ${mark.page}: “${mark.text}”: ${mark.reason}`);
  print(`passed over: ${JSON.stringify(result.summary.lookalikes)}`);
  const sources = fs.readdirSync(folder).filter((file) => file.endsWith('.pdf') && file !== thesis);
  const documents = await Promise.all(sources.map(async (file) => ({ id: file, filename: file, head: (await pagesOf(path.join(folder, file)))[0] ?? '' })));
  const { value: matches, ms } = timed(() => matchDocuments(result.bibliography, documents));
  const found = matches.filter(({ documentId }) => documentId !== null);
  print(`sources: ${found.length} of ${matches.length} entries have a document (${ms.toFixed(0)} ms); not cited: ${sources.filter((file) => !found.some((match) => match.documentId === file)).join(', ') || 'none'}`);
  for (const { entry, documentId, score, reason } of found) print(`  ${result.bibliography[entry]!.text.slice(0, 60)}… = ${documentId} (${reason}, ${score}); ${result.claims.filter((claim) => claim.entry === entry).length} claims`);
  return seen > 0 && resolved / seen >= GOAL;
}

async function pagesOf(file: string): Promise<string[]> {
  const limits = { maxSeconds: 120, maxMemoryMb: 1024, maxPages: 2000 };
  const { pages } = await extractPdf(fs.readFileSync(file), { signal: new AbortController().signal, limits });
  return pages.map((page) => page.text);
}

function timed<T>(act: () => T): { value: T; ms: number } {
  const start = performance.now();
  const value = act();
  return { value, ms: performance.now() - start };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
