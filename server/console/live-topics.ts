import { queueBySlug, type QueueDefinition } from '../lease/queues.js';
import { parseQueueFilters, type QueueFilters } from './queue-filters.js';

/** What a live stream can be asked for. `key` is the topic exactly as the browser wrote it: answers carry it back. */
export type LiveTopic =
  | { key: string; kind: 'summary' }
  | { key: string; kind: 'workers' }
  | { key: string; kind: 'queue'; queue: QueueDefinition; filters: QueueFilters }
  | { key: string; kind: 'row'; queue: QueueDefinition; id: string }
  | { key: string; kind: 'rows'; queue: QueueDefinition; ids: string[] };

/** A page shows a handful of things at once; a stream that asks for more is no page of ours. */
const MAX_TOPICS = 8;
const MAX_TOPIC_LENGTH = 2_500; // 60 ids
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads the `topics` of a URL's query: URL-encoded topics, joined by commas. The raw query is needed, since a decoded one no longer tells
 * the commas apart. Null when there is none, when there are too many, or when one of them is not known.
 */
export function parseTopics(rawQuery: string): LiveTopic[] | null {
  const value = rawQuery.split('&').find((pair) => pair.startsWith('topics='))?.slice('topics='.length);
  if (!value) return null;
  const parts = [...new Set(value.split(','))];
  if (parts.length > MAX_TOPICS) return null;
  const topics = parts.map((part) => parseTopic(decoded(part)));
  return topics.every((topic) => topic !== null) ? topics : null;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

/**
 * `summary`, `workers`, `queue:<slug>?<filters>` (a page), `row:<slug>:<id>` (a row's page) or `rows:<slug>:<id>,…` (rows that a browser
 * still shows although they have left the page); null for anything else.
 */
export function parseTopic(key: string): LiveTopic | null {
  if (key.length > MAX_TOPIC_LENGTH) return null;
  if (key === 'summary' || key === 'workers') return { key, kind: key };
  const [, kind, slug = '', rest = ''] = /^(queue|rows?):([a-z-]+)(.*)$/s.exec(key) ?? [];
  const queue = queueBySlug(slug);
  if (!queue) return null;
  if (kind === 'queue') return rest === '' || rest.startsWith('?') ? { key, kind, queue, filters: parseQueueFilters(new URLSearchParams(rest)) } : null;
  const ids = rest.slice(1).split(',');
  if (!rest.startsWith(':') || !ids.every((id) => UUID.test(id))) return null;
  if (kind === 'rows') return { key, kind, queue, ids };
  return ids.length === 1 ? { key, kind: 'row', queue, id: ids[0]! } : null;
}
