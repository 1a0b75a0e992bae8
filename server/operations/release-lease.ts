/** Gives back a lease that has run out, without waiting for the sweep; and, for an admin, one that has not. */
import type pg from 'pg';
import { takeBack } from '../lease/take-back.js';
import { defineAction, type Effect, type Snapshot } from './action.js';
import { leasedRowFields, rowTarget } from './row-fields.js';
import { ago, byWhom, finished, holderOf, readRowNow, whoMoved, type RowNow } from './row-now.js';
import { spell } from './spell.js';
import type { z } from 'zod';

type Input = z.output<typeof leasedRowFields>;

/** How a lease came to an end before the operator pressed, by the cause of the transition. */
const FREED: Readonly<Record<string, string>> = {
  release: 'released', force_release: 'taken by force', sweep: 'taken back', detach: 'taken back', drain: 'given back', unstarted: 'given back', answer_lost: 'given back',
  retry: 'put back after a failure', outage: 'put back while a service outside is away', wait: 'put off', await: 'read to the end', rekick: 'queued again',
};

const reclaimed = (facts: Snapshot) => `${holderOf(facts)} has taken it since you looked, ${ago(facts.held)} (lease #${String(facts.token)}). Nothing was changed; look at it again before you act.`;
const alreadyReleased = (facts: Snapshot) => `Nobody holds it any more: it was ${FREED[String(facts.how)] ?? 'given back'}${byWhom(facts)}, and ${facts.state === 'awaiting' ? 'awaits its parts' : 'waits for a worker'}. Nothing was changed, and nothing needs to be.`;

export const releaseLease = defineAction({
  name: 'release',
  permission: 'operator',
  fields: leasedRowFields,
  target: rowTarget,
  guard: 'Only while it is held under this token and the lease has run out on the database clock.',
  consequence: 'The row waits again, at the front, and the next free worker takes it. No failure is counted. Whatever the old holder still writes is refused.',
  did: ({ before }) => `Released the stale lease #${String(before.token)} of ${holderOf(before)}; the row is queued again.`,
  refusals: {
    lease_valid: ({ leaseLeft, silent, ...rest }) => `The lease is valid for another ${spell(Number(leaseLeft))}; ${holderOf(rest)} last beat ${ago(silent)}. Nothing was changed. Wait for the lease to run out, or have an admin force it.`,
    already_released: alreadyReleased,
    finished, reclaimed,
  },
  act: (tx, input) => release(tx, input, 'stale'),
});

export const forceRelease = defineAction({
  name: 'force_release',
  permission: 'admin',
  fields: leasedRowFields,
  target: rowTarget,
  guard: 'Only while it is held under this token, however alive its holder is.',
  consequence: 'The row waits again and another worker starts it from the beginning. The old holder is stopped within a second; its later writes are refused and shown as late writes.',
  confirmation: ({ id }) => id.slice(-8),
  did: ({ before }) => `Took the lease #${String(before.token)} from ${holderOf(before)} by force; the row is queued again.`,
  refusals: { finished, reclaimed, already_released: alreadyReleased },
  act: (tx, input) => release(tx, input, 'force'),
});

type Code = 'lease_valid' | 'already_released' | 'finished' | 'reclaimed';

async function release(tx: pg.PoolClient, input: Input, how: 'force'): Promise<Effect<Exclude<Code, 'lease_valid'>>>;
async function release(tx: pg.PoolClient, input: Input, how: 'stale'): Promise<Effect<Code>>;
async function release(tx: pg.PoolClient, input: Input, how: 'stale' | 'force'): Promise<Effect<Code>> {
  const { queue, id, token } = input;
  const found = await readRowNow(tx, queue, id);
  if (!found) return { outcome: 'refused', code: 'not_found', now: null };
  const taken = await takeBack(tx, queue, id, token, how);
  if (!taken) {
    return { outcome: 'refused', code: codeOf(found.row, input), now: found.row, facts: await whoMoved(tx, queue, id) };
  }
  return {
    outcome: 'applied', before: found.row, after: { state: taken.state, token, version: taken.version, lostLeases: taken.lostLeases }, owner: found.owner,
    changed: [{ table: queue.table, ids: [id] }], kicks: [{ lost: [id] }, { q: queue.table, low: true }],
  };
}

/** Why the statement passed over the row, which has been locked since before it ran. */
function codeOf(row: RowNow, { token }: Input): Code {
  if (row.ended !== null) return 'finished';
  if (row.worker === null) return 'already_released';
  return row.token === token ? 'lease_valid' : 'reclaimed';
}
