import type { Claim } from '../claim-text.js';
import type { Passage } from '../retrieval/retrieval.js';

/** What a judge may say. That a source is missing, or that a claim was never checked, is not for a judge to decide. */
export type Verdict = 'supported' | 'partly_supported' | 'not_supported';

/** A place in a source that speaks for or against the claim. */
export interface Evidence {
  /** Index in the passages that were judged. */
  passage: number;
  documentId: string;
  /** 1-based: where the quote begins. */
  page: number;
  /** UTF-16 code units in the document's text, `charTo` exclusive. */
  charFrom: number;
  charTo: number;
  /** Exactly what stands there. */
  quote: string;
}

export interface Judgement {
  verdict: Verdict;
  /** 0 to 1 */
  confidence: number;
  evidence: Evidence[];
  rationale?: string;
  /** Why the verdict is lower than the judge wanted it. */
  downgraded?: 'quote_not_found' | 'no_quote';
}

/** What may be judged from: a passage as retrieval gives it, scores aside. */
export type JudgedPassage = Omit<Passage, 'scores'>;

export interface Judge {
  /** Stored with every verdict and shown wherever it is. */
  label: string;
  /**
   * @throws OutsideError when the model is away, PermanentError when it refuses the request, TransientError when its answers are none; the
   * signal's reason as soon as that fires.
   */
  judge(claim: Claim, passages: readonly JudgedPassage[], signal: AbortSignal): Promise<Judgement>;
}
