/** Generated theses and their sources, uploaded as the product would have them: real PDFs, parsed, stored, embedded, linked. */
import { createHash } from 'node:crypto';
import { extractClaims } from '../server/citations/claims/extract-claims.js';
import { textFromPages } from '../server/citations/claims/document-text.js';
import { matchDocuments } from '../server/citations/claims/match-documents.js';
import { inTransaction } from '../server/db/connection.js';
import { chunkDocument, documentText, pageStarts } from '../server/parse/chunks.js';
import { openPdf, readPages } from '../server/parse/read-pages.js';
import { Warnings } from '../server/parse/warnings.js';
import { persistDocument } from '../server/sources/documents.js';
import { storeEmbeddings } from '../server/sources/embeddings.js';
import type { Embedder } from '../server/sources/embedder.js';
import { linkSource } from '../server/sources/session-sources.js';
import { sourcePdf, thesisPdf } from '../tests/fixtures/theses/thesis-pdf.js';
import { writeThesis, type PlantedClaim, type ThesisOptions } from '../tests/fixtures/theses/thesis-text.js';
import type { Verdict } from '../tests/fixtures/theses/works.js';
import type { BenchServer } from './server.js';

export interface CitedClaim {
  text: string;
  mark: string;
  /** Null: the source is missing. */
  documentId: string | null;
  planted: Verdict;
}

export interface UploadedThesis {
  userId: string;
  sessionId: string;
  claims: CitedClaim[];
  /** Planted, and not read out of the thesis. */
  lost: number;
  /** The texts of the sources' pages. */
  pages: Map<string, string[]>;
}

const never = new AbortController().signal;

export async function uploadThesis(server: BenchServer, embedder: Embedder, options: ThesisOptions): Promise<UploadedThesis> {
  const thesis = writeThesis(options);
  const session = { userId: 'bench', sessionId: `${options.language}-${options.style}-${options.seed}` };
  const pages = new Map<string, string[]>();
  for (const work of thesis.works.filter(({ missing }) => !missing)) await upload(server, embedder, session, await sourcePdf(work), pages);
  const documents = [...pages].map(([id, texts]) => ({ id, filename: 'source.pdf', head: texts[0] ?? '' }));
  const read = extractClaims(textFromPages(await pagesOf(await thesisPdf(thesis))));
  const matches = matchDocuments(read.bibliography, documents);
  const unread = new Map(thesis.key.map((planted) => [keyOf(planted.sentence, planted.work.title), planted]));
  const claims = read.claims.flatMap(({ reading, markText, entry }): CitedClaim[] => {
    const title = entry === null ? '' : read.bibliography[entry]?.title ?? '';
    const planted = take(unread, keyOf(withoutNote(reading), title));
    const documentId = matches.find((match) => match.entry === entry)?.documentId ?? null;
    return planted ? [{ text: reading, mark: markText, documentId, planted: planted.verdict }] : [];
  });
  return { ...session, claims, lost: unread.size, pages };
}

function keyOf(sentence: string, title: string): string {
  return `${sentence} → ${title}`;
}

function take(unread: Map<string, PlantedClaim>, key: string): PlantedClaim | undefined {
  const planted = unread.get(key);
  unread.delete(key);
  return planted;
}

/** The number of a footnote at the sentence's end. */
function withoutNote(reading: string): string {
  return reading.replace(/(?<=[^\d\s])\d{1,3}(?=\.?$)/u, '');
}

async function upload({ pool }: BenchServer, embedder: Embedder, session: { userId: string; sessionId: string }, pdf: Buffer, pages: Map<string, string[]>): Promise<void> {
  const texts = await pagesOf(pdf);
  const chunks = [...chunkDocument(texts)];
  const vectors = await embedder.embed(chunks.map(({ body }) => body), never);
  const contentSha256 = createHash('sha256').update(session.sessionId).update(pdf).digest();
  const documentId = await inTransaction(pool, async (tx) => {
    const document = await persistDocument(tx, {
      userId: session.userId, contentSha256, filename: 'source.pdf', byteSize: pdf.length, pageCount: texts.length, failedPages: [], letters: documentText(texts).length, quality: 'good', chunks, pageStarts: pageStarts(texts),
    });
    await storeEmbeddings(tx, chunks.map(({ ordinal }) => ({ documentId: document.documentId, ordinal })), vectors, embedder.model);
    return document.documentId;
  });
  await linkSource(pool, { ...session, documentIds: [documentId], linkedBy: 'upload' });
  pages.set(documentId, texts);
}

async function pagesOf(pdf: Buffer): Promise<string[]> {
  const warnings = Warnings.fromConsole();
  const texts: string[] = [];
  for await (const { text } of readPages(await openPdf(new Uint8Array(pdf)), 10_000_000, warnings)) texts.push(text);
  return texts;
}
