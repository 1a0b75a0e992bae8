import type { SeriesView } from '../../server/console/series.js';

export interface Marker {
  at: number;
  key: string;
  kind: 'redeploy' | 'action';
  /** What is written above it; empty where the label before it speaks for it. */
  label: string;
  /** Where the label reaches from the line. */
  side: 'left' | 'right';
}

/** What one letter takes of the hour on the narrowest screen (milliseconds): 6 of the 272 pixels that the plot has at 390. */
const LETTER_MS = 80_000;

/** Of longer words only the first part is written, and that is cut. */
const MOST_LETTERS = 18;

/** Letters kept free for ", …". */
const MORE = 3;

/** The labels may reach over the axis' own column (milliseconds): 54 pixels. */
const GUTTER_MS = 700_000;

/**
 * Redeploys and actions with what to write above them. Labels never lie on each other: one that has no room to either side is left out, and
 * the one before says that there is more (web and worker of one version: "all v43").
 */
export function markersOf({ redeploys, actions, asOf, queues }: SeriesView): Marker[] {
  const told = [
    ...redeploys.map(({ at, role, toVersion }) => ({ at, key: `${role}${at}`, kind: 'redeploy' as const, words: [`${role} ${toVersion}`], version: toVersion })),
    ...actions.map(({ at, action, by }, index) => ({ at, key: `action${at}${index}`, kind: 'action' as const, words: [action.replaceAll('_', ' '), by], version: null })),
  ].sort((a, b) => a.at - b.at);
  const markers: Marker[] = [];
  let last: Marker | undefined;
  let clear = (queues[0]?.points[0]?.at ?? asOf) - GUTTER_MS;
  for (const { words, version, ...line } of told) {
    const label = labelOf(words);
    const width = (label.length + MORE) * LETTER_MS;
    const side = line.at >= clear && line.at + width <= asOf ? 'right' : line.at - width >= clear ? 'left' : null;
    const marker: Marker = { ...line, label: side === null ? '' : label, side: side ?? 'right' };
    if (side !== null) {
      last = marker;
      clear = side === 'right' ? line.at + width : line.at;
    } else if (last) last.label = version !== null && last.label.endsWith(` ${version}`) ? `all ${version}` : last.label.endsWith(', …') ? last.label : `${last.label}, …`;
    markers.push(marker);
  }
  return markers;
}

function labelOf(words: string[]): string {
  const whole = words.join(' · ');
  if (whole.length <= MOST_LETTERS) return whole;
  const [first = ''] = words;
  return first.length <= MOST_LETTERS ? first : `${first.slice(0, MOST_LETTERS - 1).trimEnd()}…`;
}
