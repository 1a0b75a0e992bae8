/** What a citation's check came to: a judge's verdict, ours (`source_missing`), none because it failed or was cancelled, or none yet. */
export type ShownVerdict = 'supported' | 'partly_supported' | 'not_supported' | 'source_missing' | 'not_checked' | 'open';

/** In the order in which a report lists them. */
export const SHOWN_VERDICTS = [
  'supported', 'partly_supported', 'not_supported', 'source_missing', 'not_checked', 'open',
] as const satisfies readonly ShownVerdict[];

/** What a report's table shows. All of it lives in the URL. */
export interface CitationFilters {
  verdict: ShownVerdict | null;
  /** Keyset cursors: citations behind this ordinal, or ahead of it. */
  after: number | null;
  before: number | null;
}

/** Reads filters from a URL's query. Anything it does not understand is left out, so every URL gives a page. */
export function parseCitationFilters(query: URLSearchParams): CitationFilters {
  const after = ordinal(query.get('after'));
  const verdict = query.get('verdict');
  return {
    verdict: SHOWN_VERDICTS.find((known) => known === verdict) ?? null,
    after,
    before: after === null ? ordinal(query.get('before')) : null,
  };
}

function ordinal(value: string | null): number | null {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
}
