import type { VerdictCounts } from '../../server/console/report-citations.js';
import type { ShownVerdict } from '../../server/console/report-filters.js';
import { Shape } from './ui/shape';
import { verdictLooks } from '~/format/report-words';

export const verdicts = Object.keys(verdictLooks) as ShownVerdict[];

export function VerdictMark({ verdict }: { verdict: ShownVerdict }) {
  const { word, tone, shape } = verdictLooks[verdict];
  return <span className={`state tone-${tone}`} data-verdict-of={verdict}><Shape name={shape} />{word}</span>;
}

/** The shares at a glance. Its words stand beside it, so it is hidden from a screen reader. */
export function VerdictBar({ counts }: { counts: VerdictCounts }) {
  const present = verdicts.filter((verdict) => counts[verdict] > 0);
  if (present.length === 0) return null;
  return (
    <span className="verdict-bar" aria-hidden="true">
      {present.map((verdict) => <span key={verdict} className={`verdict-share share-${verdict}`} style={{ flexGrow: counts[verdict] }} title={`${counts[verdict]} ${verdictLooks[verdict].word}`} />)}
    </span>
  );
}
