import type { FindAnswer, FindGroup, FindHit, FindSubject, GroupName, RowHit } from '../../server/console/find-view.js';
import { reportPath } from './report-words';
import { sessionPath } from './session-words';

/** What a group of hits is called: as what the input was understood. */
export const groupTitles: Record<GroupName, string> = {
  id: 'Row with this id',
  id_start: 'Rows whose id begins like this',
  id_end: 'Uploads and reports whose id ends like this',
  document: 'Documents by id',
  address: 'Sessions under this e-mail address',
  address_start: 'E-mail addresses that begin like this',
  session: 'Session with this id',
  user: 'Sessions of this user',
  app: 'Apps by project, slug or user',
  worker: 'Processes',
  file: 'Files by name',
};

export interface Place {
  path: string;
  title: string;
}

/** The console's pages as entries of the palette, in the rail's order. */
export function placesOf(queues: readonly { slug: string; title: string }[]): Place[] {
  const own = queues.filter(({ slug }) => slug !== 'deployments').map(({ slug, title }) => ({ path: `/queues/${slug}`, title }));
  return [
    { path: '/', title: 'Now' }, { path: '/find', title: 'Find' }, ...own, { path: '/reports', title: 'Reports' }, { path: '/sessions', title: 'Sessions' },
    { path: '/deployments', title: 'Deployments' }, { path: '/workers', title: 'Workers' }, { path: '/redeploys', title: 'Redeploys' },
    { path: '/audit', title: 'Audit' }, { path: '/settings', title: 'Settings' },
  ];
}

/** The answer to a search, or to one of its hits. */
export function findPath(text: string, subject: FindSubject | null = null): string {
  const query = new URLSearchParams(text === '' ? {} : { q: text });
  if (subject) {
    query.set('user', subject.userId);
    query.set('session', subject.sessionId);
    if (subject.analysisId !== undefined) query.set('analysis', subject.analysisId);
  }
  return `/find?${query}`;
}

/** Where a hit is opened. `text` is what was searched for: the way back. */
export function hitPath(hit: FindHit, text: string): string {
  if (hit.kind === 'address') return findPath(hit.address);
  if (hit.kind === 'worker') return hit.condition === 'ended' ? '/workers?show=all' : '/workers';
  if (hit.subject) return findPath(text, hit.subject);
  return hit.kind === 'row' ? rowPath(hit) : findPath(hit.kind === 'document' ? hit.userId : hit.sessionId);
}

/** The page of the hit itself, besides its journey, and what that page is. */
export function ownPage(hit: FindHit): { path: string; word: string } | null {
  if (hit.kind === 'row') return hit.subject && { path: rowPath(hit), word: hit.table === 'analysis_jobs' ? 'Report' : 'Row' };
  const session = hit.kind === 'session' || hit.kind === 'document' ? hit.subject : null;
  return session && { path: sessionPath(session.sessionId, session.userId), word: 'Session' };
}

function rowPath(row: RowHit): string {
  if (row.table === 'deployments') return `/deployments/${row.id}`;
  return row.table === 'analysis_jobs' ? reportPath(row.id) : `/queues/${row.slug}/${row.id}`;
}

const nouns: Record<string, string> = { parse_jobs: 'upload', parse_items: 'file', analysis_jobs: 'report' };

/** What a customer calls it. */
export function rowNoun(row: Pick<RowHit, 'table' | 'noun'>): string {
  return nouns[row.table] ?? row.noun;
}

/** What is said of a group that is not shown whole. */
export function moreWords({ name, hits }: FindGroup): string {
  return name === 'address' || name === 'user' ? `the newest ${hits.length}; older ones are in the list of sessions` : `the first ${hits.length}: type more to narrow it`;
}

/** How far the search for file names went, where that is less than one would think. */
export function nameLimit({ names, text }: Pick<FindAnswer, 'names' | 'text'>): string | null {
  if (text === '') return null;
  if (names === 'starts') return 'This server has no pg_trgm: file names were searched by their start, and by any part only among the newest 2,000 files.';
  if (names === 'newest') return 'So many file names have this in them that only the newest 2,000 files were searched. Type more of the name.';
  return names === 'none' ? 'File names, e-mail addresses and ids are searched from three characters on.' : null;
}

/** What one may type, for the empty page. */
export const examples = [
  ['an e-mail address', 'whole, or how it begins'],
  ['a user or session id', 'whole, as the product backend gave it'],
  ['an upload, file, report, citation, document or deployment id', 'whole, its first 12 digits or more, or the last 8 as lists show them'],
  ['a file name', 'any part of it; capitals and accents do not matter'],
  ['a project or slug', 'whole, or how it begins'],
  ['a process', 'its label or id, or how that begins'],
] as const;
