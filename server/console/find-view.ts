import type { LeasedState } from '../lease/queues.js';
import type { Stamp } from './row-view.js';

export interface SessionKey {
  userId: string;
  sessionId: string;
}

/** A session, or one analysis of it. */
export interface FindSubject extends SessionKey {
  analysisId?: string;
}

/** A leased row as a search finds it: names and states, never text. Instants in milliseconds since 1970 on the database clock. */
export interface HitRow {
  table: string;
  id: string;
  userId: string | null;
  /** Null for an app. */
  sessionId: string | null;
  /** A file's name or an app's slug. */
  name: string | null;
  project: string | null;
  /** The upload or the analysis that it is a part of. */
  parentId: string | null;
  state: LeasedState;
  leaseExpiresAt: number | null;
  errorCode: string | null;
  at: number;
}

export interface RowHit extends HitRow {
  kind: 'row';
  /** How URLs name its queue, and what one row of it is called. */
  slug: string;
  noun: string;
}

export interface SessionHit extends SessionKey {
  kind: 'session';
  email: string | null;
  /** The newest of each; null if there never was one. */
  upload: RowHit | null;
  analysis: RowHit | null;
}

export interface DocumentHit {
  kind: 'document';
  id: string;
  filename: string;
  userId: string;
  sessionId: string | null;
  at: number;
}

export interface AddressHit {
  kind: 'address';
  address: string;
}

export interface WorkerRow {
  id: string;
  label: string;
  role: string;
  version: string;
  capabilities: string[];
  startedAt: number;
  condition: 'live' | 'drained' | 'draining' | 'ended';
}

export interface WorkerHit extends WorkerRow {
  kind: 'worker';
}

export type Found = RowHit | SessionHit | DocumentHit | AddressHit | WorkerHit;

/** With the journey that it leads to; null for what has none. */
export type FindHit = Found & { subject: FindSubject | null };

/** As what the input was understood. */
export type GroupName = 'address' | 'address_start' | 'session' | 'user' | 'id' | 'id_start' | 'id_end' | 'document' | 'app' | 'file' | 'worker';

export interface FindGroup {
  name: GroupName;
  /** The input is the whole name of these, not a part of it. */
  whole: boolean;
  hits: FindHit[];
  /** There are more than are shown. */
  more: boolean;
}

/** How far file names could be searched. */
export type NameSearch =
  /** Any part of any name. */
  | 'all'
  /** The server has no pg_trgm: the start of any name, any part of the newest. */
  | 'starts'
  /** It took too long: any part of the newest names only. */
  | 'newest'
  /** Too short to look for. */
  | 'none';

export interface FindAnswer extends Stamp {
  /** What was looked for, "" when nothing was typed. */
  text: string;
  /** Best first. */
  groups: FindGroup[];
  names: NameSearch;
  /** The one session that all of this speaks of, or the newest of the one user; null when a person must choose. */
  subject: FindSubject | null;
}
