import { Link } from '@remix-run/react';
import { ChevronLeft, ChevronRight } from 'lucide-react';

interface Props {
  page: { next: string | null; previous: string | null };
  /** What this page was asked to lie before: null on the newest. */
  before: string | null;
  /** The address of another page of the same list. */
  to: (change: { before?: string; after?: string }) => string;
}

/** Of a list that begins with the newest. */
export function Pager({ page: { next, previous }, before, to }: Props) {
  if (next === null && previous === null && before === null) return null;
  return (
    <nav className="pager" aria-label="Pages">
      {previous !== null || before !== null ? <Link className="btn" to={to({})}>Newest</Link> : null}
      {previous !== null ? <Link className="btn" rel="prev" to={to({ after: previous })}><ChevronLeft aria-hidden />Newer</Link> : null}
      {next !== null ? <Link className="btn" rel="next" to={to({ before: next })}>Older<ChevronRight aria-hidden /></Link> : null}
    </nav>
  );
}
