import type { RowView } from '../../server/console/row-view.js';
import type { Order } from '~/acting';
import type { RowAction } from './possible';

/** Their guard repeats the token that was seen; the others are judged by the row as it is. */
const leased: readonly RowAction[] = ['release', 'force_release', 'clear_lock'];

/** A row's action, under the lease that is shown where that matters. */
export function orderOf(action: RowAction, row: RowView, slug: string, noun: string): Order {
  const fields: Record<string, string> = { queue: slug, id: row.id };
  if (leased.includes(action)) fields.token = row.leaseToken;
  return { action, fields, subject: subjectOf(row, noun) };
}

/** What the row is called in a sentence: its file or app, else its noun and the end of its id. */
export function subjectOf({ id, columns: { filename, slug, ordinal } }: Pick<RowView, 'id' | 'columns'>, noun: string): string {
  if (typeof filename === 'string') return filename;
  if (typeof slug === 'string') return slug;
  return typeof ordinal === 'number' ? `citation ${ordinal + 1}` : `${noun} …${id.slice(-8)}`;
}
