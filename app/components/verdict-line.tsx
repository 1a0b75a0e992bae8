import { useEffect, useState } from 'react';
import type { Verdict } from '~/format/verdict';

/** The page's first sentence. A screen reader hears it again only when the situation changes, not with every second. */
export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const [spoken, setSpoken] = useState('');
  useEffect(() => setSpoken(verdict.spoken), [verdict.spoken]);
  return (
    <div data-verdict={verdict.tone}>
      <h1 className="max-w-[62ch]" suppressHydrationWarning>
        {verdict.parts.map((part) => part.alarming
          ? <em key={part.text} className={verdict.tone === 'stale' ? 'verdict-bad' : 'verdict-low'}>{part.text}</em>
          : <span key={part.text.slice(0, 12)} suppressHydrationWarning>{part.text}</span>)}
      </h1>
      {verdict.detail ? <p className="soft mt-1" suppressHydrationWarning>{verdict.detail}</p> : null}
      <div className="visually-hidden" aria-live="polite">{spoken}</div>
    </div>
  );
}
