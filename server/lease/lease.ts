/** One row held by a process until `token` is superseded. The token is a bigint in decimal text: it never passes through a float. */
export interface Lease {
  queue: string;
  id: string;
  token: string;
  kind: string;
  /** Failures of the work so far (0 on the first try). */
  attempt: number;
  lostLeases: number;
  /** The queue's claimColumns as pg returned them. */
  row: Record<string, unknown>;
}

/** What identifies a held lease in every guarded write. */
export type LeaseKey = Pick<Lease, 'queue' | 'id' | 'token'>;
