import type { RowView } from '../../server/console/row-view.js';
import type { BulkAnswer } from '../../server/operations/bulk.js';
import { actionWords, refusalWord } from './action-words';
import { counted } from './count';
import { possibleNow, type Rights, type RowAction } from './possible';

/** Past participles, for counting. */
const participles: Readonly<Record<RowAction, string>> = { release: 'released', force_release: 'released by force', rekick: 're-kicked', cancel: 'cancelled', clear_lock: 'cleared' };

/** "7 released, 2 refused: lease valid"; several reasons each with its count, the most frequent first. */
export function bulkSummary(action: RowAction, answers: readonly BulkAnswer[], left = 0): string {
  const of = (outcome: BulkAnswer['outcome']) => answers.filter((answer) => answer.outcome === outcome);
  const refused = of('refused');
  const skipped = of('skipped').length + left;
  return [
    `${of('applied').length} ${participles[action]}`,
    ...(refused.length > 0 ? [`${refused.length} refused: ${reasons(refused)}`] : []),
    ...(of('failed').length > 0 ? [`${of('failed').length} failed`] : []), ...(skipped > 0 ? [`${skipped} not tried`] : []),
  ].join(', ');
}

function reasons(refused: readonly BulkAnswer[]): string {
  const counts = tally(refused.map(({ code }) => refusalWord(code ?? '')));
  return counts.map(([word, n]) => (counts.length > 1 ? `${n} ${word}` : word)).join(', ');
}

export interface BulkOutlook {
  possible: RowView[];
  /** How many cannot be acted on now, by why, the most frequent first. */
  not: [why: string, n: number][];
}

/** Of the rows as they were read: whose guard holds now, and why it does not hold for the rest. `now`: milliseconds, database clock. */
export function bulkOutlook(action: RowAction, rows: readonly RowView[], now: number, rights: Rights): BulkOutlook {
  const judged = rows.map((row) => ({ row, ...possibleNow(action, row, now, rights) }));
  const not = judged.filter(({ possible }) => !possible).map(({ why }) => why.split(/[,(:]| for /)[0]!.trim());
  return { possible: judged.filter(({ possible }) => possible).map(({ row }) => row), not: tally(not) };
}

function tally(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
}

/** "Release the leases of 40 parse items?" */
export function bulkQuestion(action: RowAction, n: number, noun: string): string {
  const rows = counted(n, noun, noun === 'analysis' ? 'analyses' : `${noun}s`);
  return { release: `Release the stale leases of ${rows}?`, force_release: `Take the leases of ${rows} by force?`, rekick: `Set ${rows} going again?`, cancel: `Cancel ${rows}?`, clear_lock: `Clear the stuck locks of ${rows}?` }[action];
}

/** The participle is enough for a progress line: "Release lease: 40 of 120". */
export function bulkProgress(action: RowAction, done: number, total: number): string {
  return `${actionWords(action).label}: ${done} of ${total}`;
}
