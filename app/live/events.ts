import type { FeedView } from '../../server/console/live-feed.js';
import type { RowView } from '../../server/console/row-view.js';

/** A complete view of a topic, as of a moment on the database clock (ms) in one life of the database server. */
export interface ViewEvent {
  topic: string;
  epoch: number;
  asOf: number;
  data: unknown;
}

/** What has changed on a topic's page since. */
export interface RowsEvent {
  topic: string;
  table: string;
  epoch: number;
  asOf: number;
  rows: RowView[];
  removed: string[];
  /** Ids that belong on the page now, and ids that do not (any more). */
  entered: string[];
  left: string[];
}

export type LiveEvent =
  | { event: 'snapshot' | 'summary' | 'workers' | 'queue' | 'list' | 'row'; data: ViewEvent }
  | { event: 'rows'; data: RowsEvent }
  | { event: 'feed'; data: FeedView }
  | { event: 'bye'; data: { reason: 'signed_out' | 'max_age' | 'shutdown' } };

export const EVENT_NAMES = ['snapshot', 'summary', 'workers', 'queue', 'list', 'row', 'rows', 'feed', 'bye'] as const satisfies readonly LiveEvent['event'][];
