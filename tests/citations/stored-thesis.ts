/** Generated theses and their sources as the parse pipeline would have stored them, without the PDFs between. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../server/db/connection.js';
import { chunkDocument, pageStarts } from '../../server/parse/chunks.js';
import { persistDocument } from '../../server/sources/documents.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { readPending, storeEmbeddings } from '../../server/sources/embeddings.js';
import { linkSource } from '../../server/sources/session-sources.js';
import { referenceEntry } from '../fixtures/theses/citing.js';
import { writeThesis, type PlantedClaim, type ThesisText } from '../fixtures/theses/thesis-text.js';
import { sourceSentences, type Work } from '../fixtures/theses/works.js';

export interface StoredThesis {
  userId: string;
  sessionId: string;
  thesisId: string;
  /** By the work's title. */
  sources: Map<string, string>;
  pages: Map<string, string[]>;
  key: PlantedClaim[];
  text: ThesisText;
}

export interface ThesisChoice { seed?: number; citations?: number; userId?: string; sessionId?: string; withSources?: boolean }

/** A thesis with planted citations (author–year, English), linked to a session of a new user beside the sources that are not missing. */
export async function storeThesis(pool: pg.Pool, { seed = 3, citations = 24, userId = `user-${uuidv7()}`, sessionId = 'session-1', withSources = true }: ThesisChoice = {}): Promise<StoredThesis> {
  const text = writeThesis({ language: 'en', style: 'author_year', seed, citations });
  const stored: StoredThesis = { userId, sessionId, thesisId: '', sources: new Map(), pages: new Map(), key: text.key, text };
  const add = async (name: string, pages: string[]) => {
    const id = await storeDocument(pool, { userId, sessionId }, name, pages);
    stored.pages.set(id, pages);
    return id;
  };
  stored.thesisId = await add('thesis.pdf', thesisPages(text));
  if (withSources) for (const work of text.works.filter(({ missing }) => !missing)) stored.sources.set(work.title, await add(`${work.id}.pdf`, sourcePages(work)));
  return stored;
}

export async function storeDocument(pool: pg.Pool, { userId, sessionId }: { userId: string; sessionId: string }, filename: string, pages: string[]): Promise<string> {
  const contentSha256 = createHash('sha256').update(pages.join('\f')).digest();
  return inTransaction(pool, async (tx) => {
    const { documentId } = await persistDocument(tx, {
      userId, contentSha256, filename, byteSize: 1, pageCount: pages.length, failedPages: [], letters: 1, quality: 'good', pageStarts: pageStarts(pages), chunks: [...chunkDocument(pages)],
    });
    await embed(tx, documentId);
    await linkSource(tx, { userId, sessionId, documentIds: [documentId], linkedBy: 'parse_item' });
    return documentId;
  });
}

async function embed(tx: pg.PoolClient, documentId: string): Promise<void> {
  const embedder = offlineEmbedder();
  const chunks = await readPending(tx, [documentId], embedder.model, 10_000, undefined);
  await storeEmbeddings(tx, chunks, await embedder.embed(chunks.map(({ body }) => body), new AbortController().signal), embedder.model);
}

function thesisPages({ title, chapters, references }: ThesisText): string[] {
  const body = chapters.map((chapter) => [chapter.title, ...chapter.paragraphs.map((sentences) => sentences.map((sentence) => sentence.text).join(' '))].join('\n\n'));
  return [`${title}\n\n${body[0]}`, ...body.slice(1), ['References', ...references.map((work, i) => referenceEntry(work, 'author_year', i + 1))].join('\n')];
}

/** Title and authors on the first page, a finding on each of the next. */
function sourcePages(work: Work): string[] {
  const head = `${work.title}\n${work.authors.map(([family, given]) => `${given} ${family}`).join(', ')}\n${work.journal}, ${work.year}.`;
  return [head, ...sourceSentences(work).map((sentences) => sentences.join(' '))];
}
