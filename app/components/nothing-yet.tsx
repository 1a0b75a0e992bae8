import { UploadCommand } from './upload-command';
import { EmptyState } from './ui/empty-state';

/** What would be here, and how to make it so. */
export function NothingYet({ origin }: { origin: string }) {
  return (
    <div className="card section">
      <EmptyState title="No upload has arrived yet">
        <p className="soft">Each upload becomes one parse job and one parse item a file. You will see them here as they are queued, held by a worker, and done; with leases that are about to end, and rows that need you, on top.</p>
        <p className="soft">Send a PDF now. <code>$TOKEN</code> is the API token printed at the first start; <code>npx leaseboard tokens add NAME</code> prints another.</p>
        <UploadCommand origin={origin} />
      </EmptyState>
    </div>
  );
}
