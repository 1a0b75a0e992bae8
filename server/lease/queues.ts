/**
 * The registry: a queue is declared once, here. Engine, sweeper, metrics, console pages, actions and search read this declaration;
 * adding a queue is one declaration, one migration, one handler.
 */

import type { StateWords } from './words.js';

export type LeasedState = 'awaiting' | 'queued' | 'running' | 'building' | 'succeeded' | 'live' | 'failed' | 'cancelled';

export const OPEN_STATES = ['awaiting', 'queued', 'running'] as const satisfies readonly LeasedState[];

export type Capability = 'parse' | 'citations' | 'publish';

export interface ParentLink {
  /** Table of the parent queue. Its rows carry open_children and succeeded_children. */
  queue: string;
  /** Column of the child that names its parent. */
  column: string;
}

export interface QueueDefinition {
  /** Table name; also the `q` of a kick and the `t` of a row hint. */
  table: string;
  /** How URLs name it. */
  slug: string;
  /** Words for the console: plural title, one row, and the sentence an empty queue shows. */
  title: string;
  noun: string;
  purpose: string;
  states: readonly LeasedState[];
  /** How its states are called, where not queued, running, succeeded. */
  words?: StateWords;
  /** What a worker must advertise to take its rows. */
  capability: Capability;
  /** Kinds of work and the highest schema version this build understands; others stay queued for a newer worker. */
  kinds: Readonly<Record<string, number>>;
  parent?: ParentLink;
  /** Set when the rows of another queue hang below this one: what becomes of it when the last of them has ended. */
  children?: {
    queue: string;
    column: string;
    whenEnded: 'queued' | 'succeeded';
    /** What the parent fails with when none of its children succeeded. */
    noneSucceeded: { code: string; message: string };
    /** The parent's own lease makes them (Outcome `await`), or puts itself off until it can (`wait`). Else they come with the parent. */
    madeByLease?: true;
  };
  /** At most so many rows of one value of this column are held at once (the holder says how many), so that one user's backlog never starves the others. */
  sharedBy?: string;
  /** Columns that must be null in every terminal row; each terminal UPDATE erases them. */
  erased: readonly string[];
  /** Staged bytes older than a TTL end as blob_expired; the TTL runs on queue_clocks. */
  staged?: { bytesColumn: string; clockColumn: string };
  /** Columns handed to the handler with the lease. Never bytes. */
  claimColumns: readonly string[];
  /** Columns that a console list shows besides the shared ones (names, never bytes). */
  listColumns: readonly string[];
}

export const parseJobs = {
  table: 'parse_jobs',
  slug: 'parse-jobs',
  title: 'Parse jobs',
  noun: 'parse job',
  purpose: 'One row an upload: it awaits its files, then embeds what they contain and links it to the session.',
  states: ['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled'],
  capability: 'parse',
  kinds: { parse_job: 1 },
  children: { queue: 'parse_items', column: 'job_id', whenEnded: 'queued', noneSucceeded: { code: 'no_item_succeeded', message: 'None of its files could be parsed; each file says why.' } },
  erased: [],
  claimColumns: ['user_id', 'session_id'],
  listColumns: ['user_id', 'session_id', 'open_children', 'total_children', 'succeeded_children'],
} as const satisfies QueueDefinition;

export const parseItems = {
  table: 'parse_items',
  slug: 'parse-items',
  title: 'Parse items',
  noun: 'parse item',
  purpose: 'One row a file: a worker extracts its text, stores document and chunks, and erases the upload.',
  states: ['queued', 'running', 'succeeded', 'failed', 'cancelled'],
  capability: 'parse',
  kinds: { pdf: 1 },
  parent: { queue: 'parse_jobs', column: 'job_id' },
  erased: ['file_bytes'],
  staged: { bytesColumn: 'file_bytes', clockColumn: 'staged_clock' },
  claimColumns: ['job_id', 'user_id', 'session_id', 'filename', 'byte_size'],
  listColumns: ['job_id', 'user_id', 'session_id', 'filename', 'byte_size', 'page_count', 'chunk_count', 'quality'],
} as const satisfies QueueDefinition;

export const analysisJobs = {
  table: 'analysis_jobs',
  slug: 'analysis-jobs',
  title: 'Analysis jobs',
  noun: 'analysis',
  purpose: 'One row a thesis: its claims are read once its session\'s uploads are parsed, then it awaits the check of each.',
  states: ['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled'],
  capability: 'citations',
  kinds: { analysis: 1 },
  children: {
    queue: 'job_citations', column: 'job_id', whenEnded: 'succeeded', madeByLease: true,
    noneSucceeded: { code: 'no_citation_checked', message: 'None of its citations could be checked; each says why.' },
  },
  erased: [],
  claimColumns: ['user_id', 'session_id', 'thesis_document_id'],
  listColumns: ['user_id', 'session_id', 'open_children', 'total_children', 'succeeded_children', 'marks_seen', 'marks_resolved', 'judge'],
} as const satisfies QueueDefinition;

export const jobCitations = {
  table: 'job_citations',
  slug: 'citations',
  title: 'Citations',
  noun: 'citation',
  purpose: 'One row a claim and cited source: a worker finds the passages that speak to it, and a judge says whether they support it.',
  states: ['queued', 'running', 'succeeded', 'failed', 'cancelled'],
  capability: 'citations',
  kinds: { citation: 1 },
  parent: { queue: 'analysis_jobs', column: 'job_id' },
  sharedBy: 'user_id',
  erased: [],
  claimColumns: ['job_id', 'user_id', 'session_id', 'document_id'],
  listColumns: ['job_id', 'user_id', 'session_id', 'ordinal', 'page', 'verdict', 'confidence', 'judge'],
} as const satisfies QueueDefinition;

/** The row of an app is its publish lock: it stays `building` while it waits for a worker, while one drives it, and between two of them. */
export const deployments = {
  table: 'deployments',
  slug: 'deployments',
  title: 'Deployments',
  noun: 'deployment',
  purpose: 'One row an app: the row is the publish lock. A worker drives the build and switches the release live.',
  states: ['building', 'live', 'failed'],
  words: { waiting: 'building', held: 'building', done: 'live', lock: true },
  capability: 'publish',
  kinds: { publish: 1 },
  erased: [],
  claimColumns: ['project_id', 'slug', 'publish_no'],
  listColumns: ['project_id', 'slug', 'user_id', 'publish_no', 'requested_by'],
} as const satisfies QueueDefinition;

/** Every queue of the product, children before parents (the lock order). */
export const queues: readonly QueueDefinition[] = [parseItems, parseJobs, jobCitations, analysisJobs, deployments];

/** @throws never; undefined for a name that is not in the registry (also the allow-list for anything that arrives from outside). */
export function queueByTable(table: string, registry = queues): QueueDefinition | undefined {
  return registry.find((queue) => queue.table === table);
}

export function queueBySlug(slug: string, registry = queues): QueueDefinition | undefined {
  return registry.find((queue) => queue.slug === slug);
}
