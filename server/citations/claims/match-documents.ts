import type { BibliographyEntry } from './bibliography.js';
import { nameKey } from './names.js';
import { headWords, titleEvidence, wordsOfText, type HeadWord } from './title-evidence.js';

/** An uploaded document, as far as it says what it is. */
export interface CandidateDocument {
  id: string;
  filename: string;
  /** The beginning of its text: the first page, or its first two thousand characters. */
  head: string;
}

export interface DocumentMatch {
  /** Index of the entry. */
  entry: number;
  documentId: string | null;
  /** 0 to 1; what it was found by, or the best of those that were not good enough. */
  score: number;
  reason: 'title' | 'filename' | 'ambiguous' | 'no_match';
}

/** A wrong source makes a wrong verdict, a missed one only "source missing". */
const THRESHOLD = 0.8;
/** The best document must be ahead of the second by this much. */
const MARGIN = 0.08;
const HEAD_CHARS = 2500;

interface Scored {
  document: ReadDocument;
  score: number;
  by: 'title' | 'filename';
}

/** For each entry the one document that is this work, or null. The title at the head of the document decides; author and year support it. */
export function matchDocuments(entries: readonly BibliographyEntry[], documents: readonly CandidateDocument[]): DocumentMatch[] {
  const read = documents.map(readDocument);
  return keepBest(entries, entries.map((entry) => matchOne(entry, entries, read)));
}

interface ReadDocument {
  id: string;
  words: HeadWord[];
  /** Of the head, folded like names. */
  names: Set<string>;
  joined: string;
  fileWords: HeadWord[];
  fileNames: Set<string>;
}

function readDocument({ id, filename, head }: CandidateDocument): ReadDocument {
  const words = headWords(head.slice(0, HEAD_CHARS));
  const names = words.map(({ word }) => nameKey(word));
  const base = filename.replace(/\.[a-z]{2,4}$/iu, '').replace(/(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})/gu, ' ');
  return { id, words, names: new Set(names), joined: names.join(''), fileWords: headWords(base), fileNames: new Set(wordsOfText(base).map(nameKey)) };
}

function matchOne(entry: BibliographyEntry, entries: readonly BibliographyEntry[], documents: readonly ReadDocument[]): DocumentMatch {
  const scored = documents.map((document) => scoreOf(entry, entries, document)).sort((a, b) => b.score - a.score);
  const [best, second] = scored;
  const score = best ? Math.round(best.score * 100) / 100 : 0;
  if (!best || best.score < THRESHOLD) return { entry: entry.index, documentId: null, score, reason: 'no_match' };
  if (second && best.score - second.score < MARGIN) return { entry: entry.index, documentId: null, score, reason: 'ambiguous' };
  return { entry: entry.index, documentId: best.document.id, score, reason: best.by };
}

function scoreOf(entry: BibliographyEntry, entries: readonly BibliographyEntry[], document: ReadDocument): Scored {
  const title = titleScore(entry, document);
  const filename = title >= THRESHOLD ? 0 : filenameScore(entry, entries, document);
  return title >= filename ? { document, score: title, by: 'title' } : { document, score: filename, by: 'filename' };
}

function titleScore(entry: BibliographyEntry, document: ReadDocument): number {
  if (entry.title === null) return 0;
  const evidence = titleEvidence(entry.title, document.words);
  if (evidence.score === 0) return 0;
  const authors = authorShare(entry, document);
  // Without a single author on the first page only a long title, word for word, at the very top, is enough.
  const support = authors > 0 ? 0.25 + 0.1 * authors : evidence.exact && evidence.words >= 6 && evidence.atTop ? 0.15 : 0;
  const year = entry.year !== null && document.names.has(String(entry.year)) ? 0.05 : 0;
  return Math.min(1, evidence.score * 0.7 + support + year);
}

/** Share of the authors that the document's head names. */
function authorShare(entry: BibliographyEntry, { names, joined }: ReadDocument): number {
  const keys = entry.authors.map(nameKey).filter((key) => key.length > 1);
  if (keys.length === 0) return 0;
  return keys.filter((key) => names.has(key) || (key.length > 5 && joined.includes(key))).length / keys.length;
}

/** "Zeileis_2004.pdf": the first author and the year, meant by no other entry; the document must name the author as well. */
function filenameScore(entry: BibliographyEntry, entries: readonly BibliographyEntry[], document: ReadDocument): number {
  if (authorShare(entry, document) === 0) return 0;
  if (entry.title !== null && titleEvidence(entry.title, document.fileWords).score === 1) return 0.85;
  return namedBy(entry, document) && !entries.some((other) => other !== entry && namedBy(other, document)) ? 0.82 : 0;
}

function namedBy(entry: BibliographyEntry, { fileNames }: ReadDocument): boolean {
  const [first] = entry.authors;
  return first !== undefined && entry.year !== null && fileNames.has(nameKey(first)) && fileNames.has(String(entry.year));
}

/** A document is one work: if entries of different titles claim it, the better one has it, and neither if they are alike. */
function keepBest(entries: readonly BibliographyEntry[], matches: readonly DocumentMatch[]): DocumentMatch[] {
  return matches.map((match) => {
    const rivals = matches.filter((other) => other !== match && other.documentId !== null && other.documentId === match.documentId && !sameTitle(entries, match, other));
    const worst = Math.max(-1, ...rivals.map((rival) => rival.score - match.score));
    return match.documentId === null || worst < -MARGIN ? match : { ...match, documentId: null, reason: 'ambiguous' as const };
  }).map((match, i) => promoted(match, matches[i]!, matches, entries));
}

/** The clear winner among rivals keeps the document. */
function promoted(match: DocumentMatch, original: DocumentMatch, matches: readonly DocumentMatch[], entries: readonly BibliographyEntry[]): DocumentMatch {
  if (match.documentId !== null || original.documentId === null) return match;
  const rivals = matches.filter((other) => other !== original && other.documentId === original.documentId && !sameTitle(entries, original, other));
  return rivals.every((rival) => original.score - rival.score >= MARGIN) ? original : match;
}

function sameTitle(entries: readonly BibliographyEntry[], a: DocumentMatch, b: DocumentMatch): boolean {
  const words = (match: DocumentMatch) => wordsOfText(entries.find((entry) => entry.index === match.entry)?.title ?? '').join(' ');
  return words(a) === words(b);
}
