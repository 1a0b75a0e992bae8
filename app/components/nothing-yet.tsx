import type { QueueWords } from '../../server/console/queue-page.js';
import { UploadCommand } from './upload-command';
import { EmptyState } from './ui/empty-state';

/** What would be here, and how to make it so. */
export function NothingYet({ origin, queue }: { origin: string; queue?: QueueWords }) {
  const byUpload = queue === undefined || queue.table.startsWith('parse_');
  return (
    <div className="card section">
      <EmptyState title={queue ? `No ${queue.noun} yet` : 'No upload has arrived yet'}>
        <p className="soft">{queue ? `${queue.purpose} Rows appear here by themselves.` : OVERVIEW}</p>
        {byUpload ? (
          <>
            <p className="soft">Send a PDF now. <code>$TOKEN</code> is the API token printed at the first start; <code>npx leaseboard tokens add NAME</code> prints another.</p>
            <UploadCommand origin={origin} />
          </>
        ) : null}
      </EmptyState>
    </div>
  );
}

const OVERVIEW = 'Each upload becomes one parse job and one parse item a file. You will see them here as they are queued, held by a worker, and done; '
  + 'with leases that are about to end, and rows that need you, on top.';
