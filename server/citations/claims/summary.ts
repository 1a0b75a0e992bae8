import type { Bibliography } from './bibliography.js';
import type { Claim, Mark } from './claim.js';
import type { Lookalike, MarkKind } from './found-mark.js';
import type { Unresolved } from './resolve.js';

interface Counts {
  seen: number;
  resolved: number;
}

/** What the report says about how well a thesis could be read. `seen` is always resolved plus all reasons. */
export interface Summary {
  sentences: number;
  claims: number;
  entries: number;
  labels: Bibliography['labels'];
  marks: Counts & { unresolved: number; /** Resolved or not, they carry no claim. */ inHeadings: number; byKind: Record<MarkKind, Counts>; reasons: Partial<Record<Unresolved, number>> };
  lookalikes: Partial<Record<Lookalike['reason'], number>>;
}

interface Parts {
  marks: readonly Mark[];
  claims: readonly Claim[];
  lookalikes: readonly { reason: Lookalike['reason'] }[];
  sentences: number;
  bibliography: Bibliography;
}

export function summarise({ marks, claims, lookalikes, sentences, bibliography }: Parts): Summary {
  const byKind = (kind: MarkKind) => countsOf(marks.filter((mark) => mark.kind === kind));
  const all = countsOf(marks);
  return {
    sentences, claims: claims.length, entries: bibliography.entries.length, labels: bibliography.labels,
    marks: {
      ...all, unresolved: all.seen - all.resolved, inHeadings: all.seen - claims.reduce((sum, claim) => sum + claim.marks.length, 0),
      byKind: { author_year: byKind('author_year'), number: byKind('number'), label: byKind('label'), footnote: byKind('footnote') },
      reasons: tally(marks.flatMap((mark) => mark.reason ?? [])),
    },
    lookalikes: tally(lookalikes.map(({ reason }) => reason)),
  };
}

function countsOf(marks: readonly Mark[]): Counts {
  return { seen: marks.length, resolved: marks.filter((mark) => mark.entry !== null).length };
}

function tally<K extends string>(values: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
