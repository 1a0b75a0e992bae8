import type { QueueDefinition } from '../lease/queues.js';
import { readNow, type NowLimits } from './now.js';
import { readQueuePage } from './queue-page.js';
import { readOnly, readStamp } from './read.js';
import { readRowPage, type RowPage } from './row-page.js';
import { selectRowsNow, type Database } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';
import { readWorkers } from './workers.js';
import type { LiveTopic } from './live-topics.js';

/** A complete view of a topic. */
export interface TopicView {
  stamp: Stamp;
  data: unknown;
  /** Rows of the topic's own table that it shows. */
  rows: RowView[];
  /** Rows of other tables that it shows beside them. */
  linked: RowView[];
  /** Whether more rows follow (queue topics). */
  full: boolean;
}

/** What the hub reads; each call is one snapshot, of a short read-only transaction or of a single statement. */
export interface Views {
  topic(topic: LiveTopic): Promise<TopicView>;
  /** Absent ids are left out. */
  rows(queue: QueueDefinition, ids: readonly string[]): Promise<Stamp & { rows: RowView[] }>;
}

const linkedRows = ({ links }: RowPage): RowView[] => [...(links.parent ? [links.parent.row] : []), ...(links.children?.rows ?? [])];

export function createViews(database: Database, limits: NowLimits): Views {
  const { kysely } = database;

  async function plain<T extends Stamp>(reading: Promise<T>): Promise<TopicView> {
    const data = await reading;
    return { stamp: { asOf: data.asOf, epoch: data.epoch }, data, rows: [], linked: [], full: false };
  }

  async function queuePage(topic: LiveTopic & { kind: 'queue' }): Promise<TopicView> {
    const data = await readQueuePage(kysely, topic.queue, topic.filters);
    return { stamp: { asOf: data.asOf, epoch: data.epoch }, data, rows: data.rows, linked: [], full: data.next !== null };
  }

  /** A row that does not exist (any more) is a view too: data null. */
  async function rowPage(topic: LiveTopic & { kind: 'row' }): Promise<TopicView> {
    const data = await readRowPage(kysely, topic.queue, topic.id);
    const stamp = data ?? (await readOnly(kysely, readStamp));
    return { stamp: { asOf: stamp.asOf, epoch: stamp.epoch }, data, rows: data ? [data.row] : [], linked: data ? linkedRows(data) : [], full: false };
  }

  const someRows: Views['rows'] = (queue, ids) => selectRowsNow(database, queue, ids);

  async function rowList(topic: LiveTopic & { kind: 'rows' }): Promise<TopicView> {
    const { asOf, epoch, rows } = await someRows(topic.queue, topic.ids);
    return { stamp: { asOf, epoch }, data: { rows }, rows, linked: [], full: false };
  }

  return {
    topic(topic) {
      if (topic.kind === 'summary') return plain(readNow(kysely, limits));
      if (topic.kind === 'workers') return plain(readWorkers(kysely));
      if (topic.kind === 'rows') return rowList(topic);
      return topic.kind === 'queue' ? queuePage(topic) : rowPage(topic);
    },
    rows: someRows,
  };
}
