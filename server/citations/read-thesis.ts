import { textFromChunks, type StoredChunk } from './claims/document-text.js';
import { extractClaims } from './claims/extract-claims.js';
import { matchDocuments, type CandidateDocument } from './claims/match-documents.js';
import type { Summary } from './claims/summary.js';

/** A thesis as it is stored, and the documents that it may cite. */
export interface ThesisOrder {
  chunks: StoredChunk[];
  pageStarts: number[] | null;
  sources: CandidateDocument[];
}

/** One claim and one work that it cites. Without `documentId` the source is missing, and `reason` says why. */
export interface FoundCitation {
  /** As one reads it. */
  claim: string;
  mark: string;
  locator: string | null;
  page: number;
  charFrom: number;
  charTo: number;
  entry: string | null;
  documentId: string | null;
  reason: string | null;
}

export interface ThesisRead {
  citations: FoundCitation[];
  reading: Summary;
}

/** Every citation of a thesis with the document it means. Pure, and holds the thread for as long as it takes: see thesis-reader.ts. */
export function readThesis({ chunks, pageStarts, sources }: ThesisOrder): ThesisRead {
  const { bibliography, claims, summary } = extractClaims(textFromChunks(chunks, pageStarts ?? undefined));
  const matches = new Map(matchDocuments(bibliography, sources).map((match) => [match.entry, match]));
  const citations = claims.map(({ reading, markText, locator, page, charFrom, charTo, entry, reason }) => {
    const match = entry === null ? undefined : matches.get(entry);
    const documentId = match?.documentId ?? null;
    return {
      claim: reading, mark: markText, locator, page, charFrom, charTo, documentId,
      entry: bibliography.find(({ index }) => index === entry)?.text ?? null,
      reason: documentId === null ? reason ?? match?.reason ?? 'no_match' : null,
    };
  });
  return { citations, reading: summary };
}
