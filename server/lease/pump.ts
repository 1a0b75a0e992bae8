/**
 * Settle what has finished and claim for the free slots in one statement on one connection. Crash behaviour: see ending.ts.
 * Needs no transaction: the statement is its own. Synchronous commit must be on (an asynchronous acquire lost in a crash would let two
 * holders have the same token).
 */
import type { Lease } from './lease.js';
import { endingParameters, pumpStatement, type Ending, type Ends } from './ending.js';
import { queues, type QueueDefinition } from './queues.js';
import { wordsOfQueue } from './words.js';

/** Whatever can run one statement: a client, a pool, a reserved connection. A `name` makes it a prepared statement (direct connections only). */
export interface Queryable {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
}

/** Who claims. `leaseSeconds`: how long a lease lasts without a beat. */
export interface Holder {
  workerId: string;
  version: string;
  leaseSeconds: number;
  /** Rows that one user may have held in a shared queue; none when absent. */
  userCap?: number;
}

/** More than anyone holds. */
const NO_CAP = 2_147_483_647;

export interface PumpRequest {
  endings: readonly Ending[];
  /** At most this many rows are claimed; 0 claims nothing. */
  claim: number;
  /** Where a row that has lost a lease waits among those, at most this many instead; as many as `claim` when absent. */
  claimBesideLost?: number;
  /** Smallest claimable key worth looking at, as Postgres wrote it (microseconds do not survive a JS Date). */
  lowWaterMark?: string | undefined;
  prepared?: boolean;
}

export interface PumpResult {
  claimed: Lease[];
  /** How many could have been claimed: `claim`, or `claimBesideLost`. */
  claimLimit: number;
  /** Rows whose end took effect, with the state they went to ('retry' may have become 'failed'). */
  ended: { id: string; token: string; state: string }[];
  /** Endings that changed nothing: ask `settle.ts` whether they had already succeeded or the lease is lost. */
  missed: Ending[];
  /** Parents whose counters moved, with their state now. */
  parents: { id: string; state: string }[];
  lowWaterMark: string;
}

const statements: Record<Ends, WeakMap<QueueDefinition, string>> = { any: new WeakMap(), successes: new WeakMap(), none: new WeakMap() };

function statementFor(queue: QueueDefinition, ends: Ends, registry: readonly QueueDefinition[]): string {
  const known = statements[ends].get(queue) ?? pumpStatement(queue, ends, registry);
  statements[ends].set(queue, known);
  return known;
}

/** @throws whatever the connection throws; then nothing is known about the outcome, and the same endings may be sent again. */
export async function pump(db: Queryable, queue: QueueDefinition, holder: Holder, request: PumpRequest, registry = queues): Promise<PumpResult> {
  const ends = endsOf(request.endings);
  const { rows } = await db.query({
    text: statementFor(queue, ends, registry),
    ...(request.prepared ? { name: `pump ${queue.table} ${ends}` } : {}),
    values: [...endingParameters(request.endings, ends), holder.workerId, holder.version, holder.leaseSeconds, request.claim, request.lowWaterMark ?? '-infinity',
      Math.min(request.claim, Math.max(0, request.claimBesideLost ?? request.claim)), ...(queue.sharedBy ? [holder.userCap ?? NO_CAP] : [])],
  });
  return readResult(queue, request, rows);
}

function endsOf(endings: readonly Ending[]): Ends {
  if (endings.length === 0) return 'none';
  return endings.every((ending) => ending.verb === 'succeed') ? 'successes' : 'any';
}

function readResult(queue: QueueDefinition, request: PumpRequest, rows: Record<string, unknown>[]): PumpResult {
  const result: PumpResult = { claimed: [], claimLimit: request.claim, ended: [], missed: [], parents: [], lowWaterMark: '-infinity' };
  for (const row of rows) {
    if (row.tag === 'claimed') result.claimed.push(leaseOf(queue, row));
    else if (row.tag === 'succeeded') result.ended = succeededOf(queue, request.endings, row.token as string | null);
    else if (row.tag === 'ended') result.ended.push({ id: row.id as string, token: row.token as string, state: row.kind as string });
    else if (row.tag === 'parent') result.parents.push({ id: row.id as string, state: row.kind as string });
    else Object.assign(result, { lowWaterMark: row.low, claimLimit: row.attempt });
  }
  if (result.claimed.length > result.claimLimit)
    throw new Error(`expected at most ${result.claimLimit} claimed rows of ${queue.table}, got ${result.claimed.length}`);
  if (result.ended.length < request.endings.length) {
    const ended = new Set(result.ended.map((row) => `${row.id}/${row.token}`)); // a row may be here under an old token and under its own
    result.missed = request.endings.filter((ending) => !ended.has(`${ending.id}/${ending.token}`));
  }
  return result;
}

/** @param keys id and token of those that took effect, separated by commas; null for all of them. */
function succeededOf(queue: QueueDefinition, endings: readonly Ending[], keys: string | null): PumpResult['ended'] {
  const some = keys === null ? undefined : new Set(keys.split(','));
  const ended = some ? endings.filter((ending) => some.has(`${ending.id}/${ending.token}`)) : endings;
  return ended.map(({ id, token }) => ({ id, token, state: wordsOfQueue(queue).done }));
}

function leaseOf(queue: QueueDefinition, row: Record<string, unknown>): Lease {
  return {
    queue: queue.table, id: row.id as string, token: row.token as string, kind: row.kind as string,
    attempt: row.attempt as number, lostLeases: row.lost_leases as number,
    row: Object.fromEntries(queue.claimColumns.map((column) => [column, row[`row.${column}`]])),
  };
}
