import type { LeasedState } from '../lease/queues.js';

/** Every view says when it was read (database clock) and in which life of the database server. Milliseconds since 1970. */
export interface Stamp {
  asOf: number;
  epoch: number;
}

export interface HolderView {
  id: string;
  label: string;
  version: string;
}

/** One leased row as the console shows it. Instants are milliseconds since 1970 on the database clock. No bytes, ever. */
export interface RowView {
  table: string;
  id: string;
  /** What a worker must know to take it. */
  kind: string;
  schemaVersion: number;
  /** Grows with every write to the row: of two views of one row the higher wins. */
  version: number;
  state: LeasedState;
  leaseToken: string;
  attempt: number;
  maxAttempts: number;
  lostLeases: number;
  runAfter: number;
  claimedAt: number | null;
  heartbeatAt: number | null;
  leaseExpiresAt: number | null;
  /** Who holds it now. */
  worker: HolderView | null;
  /** Who held it last, for a row that nobody holds now. */
  lastWorker: HolderView | null;
  done: number | null;
  total: number | null;
  progressedAt: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: number;
  finishedAt: number | null;
  /** The queue's listColumns, by column name. */
  columns: Record<string, string | number | null>;
}
