import type { SourceView } from '../../server/console/session-documents.js';
import { Age } from './age';
import { OutsideName } from './names';
import { EmptyState } from './ui/empty-state';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { count, listed } from '~/format/count';
import { linkedByWords, lostOf } from '~/format/session-words';

export function SessionDocuments({ sources, more }: { sources: SourceView[]; more: boolean }) {
  return (
    <Section title="Documents" aside={more ? `the first ${sources.length} by the time of their link` : 'in the order in which they were linked'}>
      {sources.length === 0 ? <Nothing /> : (
        <div className="card table-wrap">
          <table className="table stack" aria-label="Documents">
            <thead>
              <tr><th scope="col">Persisted</th><th scope="col">Document</th><th scope="col" className="r">Pages</th><th scope="col" className="r">Chunks</th><th scope="col" className="r">Embedded</th><th scope="col">Text</th><th scope="col">Linked by</th><th scope="col" className="r">Linked</th></tr>
            </thead>
            <tbody>{sources.map((source) => <Row key={source.id} source={source} />)}</tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

function Row({ source }: { source: SourceView }) {
  const lost = lostOf([source]).length > 0;
  return (
    <tr className={lost ? 'bad' : undefined} data-document={source.id}>
      <td className="mark"><span className={`state tone-${lost ? 'stale' : 'done'}`}><Shape name={lost ? 'alert' : 'tick'} />{lost ? 'chunks missing' : 'whole'}</span></td>
      <td className="first"><OutsideName name={source.filename} width="36ch" /></td>
      <td className="r" data-label="pages">{count(source.pages)}{source.failedPages.length > 0 ? <span className="soft" title={`Could not be read: page ${listed(source.failedPages.map(String))}`}> −{source.failedPages.length}</span> : null}</td>
      <td className="r" data-label="chunks">{count(source.chunks)}{source.made !== null && source.made !== source.chunks ? <span className="soft"> of {count(source.made)}</span> : null}</td>
      <td className="r" data-label="embedded" title={source.models.length > 0 ? `by ${listed(source.models)}` : undefined}>{embedded(source)}</td>
      <td className="soft">{source.quality}</td>
      <td className="soft" data-label="linked by">{linkedByWords[source.linkedBy] ?? source.linkedBy}</td>
      <td className="r" data-label="linked"><Age at={source.linkedAt} suffix=" ago" /></td>
    </tr>
  );
}

function embedded({ chunks, embedded: n }: SourceView) {
  if (n === 0) return <span className="dim">no</span>;
  return n === chunks ? 'all' : `${n} of ${chunks}`;
}

function Nothing() {
  return (
    <div className="card">
      <EmptyState title="No document is linked">
        <p className="soft">A document is linked when a worker has parsed it, or when the product backend names one that was parsed before. Only the user's own reset unlinks it: no redeploy does.</p>
      </EmptyState>
    </div>
  );
}
