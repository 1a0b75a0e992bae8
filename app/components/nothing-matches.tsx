import { Link } from '@remix-run/react';
import { EmptyState } from './ui/empty-state';
import { queuePath } from '~/format/filters';

export function NothingMatches({ slug, noun }: { slug: string; noun: string }) {
  return (
    <div className="card">
      <EmptyState title="Nothing matches">
        <p className="soft">No {noun} fits these filters now. A row that starts to fit appears here by itself.</p>
        <Link className="btn" to={queuePath(slug)}>Clear the filters</Link>
      </EmptyState>
    </div>
  );
}
