import type { JourneyView } from '../../server/console/journey.js';
import type { RowView, Stamp } from '../../server/console/row-view.js';
import { useFollow } from '~/follow';
import { useLiveView, useNow } from '~/live/use-live';

/** Read again this often while it goes on: what others do to its chances changes none of its rows (milliseconds). */
const REREAD_MS = 15_000;

/** Has the page's loader read the journey again when its row says that something happened. Renders nothing. */
export function FollowJourney({ view }: { view: JourneyView }) {
  if (view.analysis) return <Follow topic={`row:analysis-jobs:${view.analysis.id}`} view={view} />;
  return view.follow === null ? null : <Follow topic={`row:parse-jobs:${view.follow}`} view={view} />;
}

function Follow({ topic, view }: { topic: string; view: JourneyView }) {
  const { row } = useLiveView<Stamp & { row?: RowView }>(topic, { asOf: view.asOf, epoch: view.epoch });
  const now = useNow(REREAD_MS);
  useFollow(`${topic} ${Math.max(row?.version ?? 0, view.version)} ${view.step === null ? '' : Math.floor(now / REREAD_MS)}`);
  return null;
}
