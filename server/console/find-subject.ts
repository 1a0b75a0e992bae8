import { cleanText } from '../db/text.js';
import type { FindAnswer, FindGroup, FindSubject, Found } from './find-view.js';
import { isUuid } from './queue-filters.js';

/**
 * Whose journey the answer may tell without asking: the newest session under the whole name of one customer, or the one session that all
 * hits belong to. Two customers that fit alike are a choice for a person: the wrong one's report must not be pasted into a reply.
 */
export function subjectOf(groups: readonly FindGroup[]): FindSubject | null {
  const whole = groups.filter((group) => group.whole);
  const asked = (whole.length > 0 ? whole : groups).flatMap((group) => group.hits);
  const subjects = asked.map((hit) => hit.subject).filter((subject) => subject !== null);
  const [first, ...others] = subjects;
  if (!first || others.some((other) => other.userId !== first.userId)) return null;
  if (whole.length > 0) return first;
  const one = others.every((other) => other.sessionId === first.sessionId) && subjects.length === asked.length && !groups.some((group) => group.more);
  return one ? first : null;
}

/** The session that a hit is of; of an analysis or a citation the very analysis. */
export function subjectOfHit(hit: Found): FindSubject | null {
  if (hit.kind === 'address' || hit.kind === 'worker' || hit.userId === null || hit.sessionId === null) return null;
  const session = { userId: hit.userId, sessionId: hit.sessionId };
  if (hit.kind !== 'row') return session;
  const analysisId = hit.table === 'analysis_jobs' ? hit.id : hit.table === 'job_citations' ? hit.parentId : null;
  return analysisId === null ? session : { ...session, analysisId };
}

/** The hit that a person chose, from a URL's query. */
export function parseSubject(query: URLSearchParams): FindSubject | null {
  const [userId, sessionId] = ['user', 'session'].map((name) => cleanText(query.get(name) ?? '').slice(0, 200));
  if (!userId || !sessionId) return null;
  const analysisId = query.get('analysis')?.toLowerCase() ?? '';
  return isUuid(analysisId) ? { userId, sessionId, analysisId } : { userId, sessionId };
}

/** Nothing fits, and everything was looked through: the customer may be told so. */
export function isUnknown({ text, groups, names }: FindAnswer): boolean {
  return text !== '' && groups.length === 0 && names === 'all';
}
