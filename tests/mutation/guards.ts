/** Each entry takes one guard out of the product's SQL. `from` must occur in `inside` (a function or constant of `file`), or the run fails. */
export interface Mutant {
  guard: string;
  file: string;
  inside: string;
  from: string | RegExp;
  /** With $1… for the groups of a pattern. */
  to: string;
  /** All occurrences in `inside` at once; further functions where the same guard stands a second time (lock first, then write). */
  also?: string[];
  /** The test files (below tests/, without .test.ts) that should notice; run first, then all the others. */
  first: string[];
  /** Why nothing can notice: the row is guarded a second time. Said in the list, and not run. */
  equivalent?: string;
}

const ENDING = 'server/lease/ending.ts';
/** The state a held row is in, written out or from the queue's own words. */
const STATE = String.raw`(\$\{isHeld\(queue(?:, 't')?\)\}|(?:t\.)?state = 'running')`;
const HELD = new RegExp(String.raw`${STATE} and (t\.lease_token = e\.token)`, 'g');
const NO_TOKEN = '$1';
const NO_STATE = '$2';

export const mutants: readonly Mutant[] = [
  { guard: 'token in the write of any end', file: ENDING, inside: 'endedCte', from: HELD, to: NO_TOKEN, first: ['lease/tokens'] },
  { guard: 'state in the write of any end', file: ENDING, inside: 'endedCte', from: HELD, to: NO_STATE, first: ['lease/tokens'] },
  { guard: 'token in lock and write of any end', file: ENDING, inside: 'endsCte', from: HELD, to: NO_TOKEN, also: ['endedCte'], first: ['lease/tokens'] },
  { guard: 'state in lock and write of any end', file: ENDING, inside: 'endsCte', from: HELD, to: NO_STATE, also: ['endedCte'], first: ['lease/tokens'] },
  { guard: 'token in lock and write of a success', file: ENDING, inside: 'succeededCte', from: ' and t.lease_token = ($2::bigint[])[width_bucket(t.id, $1::uuid[])]', to: ' and $2::bigint[] is not null', first: ['lease/tokens'] },
  { guard: 'state in lock and write of a success', file: ENDING, inside: 'succeededCte', from: "${isHeld(queue, 't')} and ", to: '', first: ['lease/tokens'] },
  { guard: 'order of the locks of ends', file: ENDING, inside: 'endsCte', from: 'order by t.id for update of t', to: '', also: ['succeededCte'], first: ['lease/races'] },
  { guard: 'awaiting before a parent closes', file: ENDING, inside: 'parentCtes', from: `p.state = 'awaiting' and p.open_children`, to: 'p.open_children', first: ['lease/races', 'lease/parents'] },
  { guard: 'queued before a claim', file: ENDING, inside: 'claimedCte', from: '${isClaimable(queue)} and run_after', to: 'run_after', first: ['lease/acquire'] },
  { guard: 'due before a claim', file: ENDING, inside: 'claimedCte', from: 'run_after <= now() and ', to: '', first: ['lease/acquire'] },
  { guard: 'known kind before a claim', file: ENDING, inside: 'claimedCte', from: ' and (${known})', to: '', first: ['lease/acquire'] },
  { guard: 'pause before a claim', file: ENDING, inside: 'claimedCte', from: 'not exists (select 1 from queue_pauses', to: 'true or exists (select 1 from queue_pauses', first: ['lease/acquire'] },
  { guard: 'limit of a claim', file: ENDING, inside: 'claimedCte', from: 'limit $${first + 3}', to: 'limit $${first + 3} + 1', first: ['lease/acquire'] },
  { guard: 'skip locked in a claim', file: ENDING, inside: 'claimedCte', from: 'for update skip locked', to: 'for update', first: ['lease/acquire'] },
  { guard: 'a new token at each claim', file: ENDING, inside: 'claimedCte', from: 'lease_token = t.lease_token + 1', to: 'lease_token = greatest(t.lease_token, 1)', first: ['lease/tokens'] },
  { guard: 'expiry in find and write of the sweep', file: 'server/lease/expiry.ts', inside: 'expiryStatement', from: 'lease_expires_at < now()', to: 'true', first: ['lease/races'] },
  {
    guard: 'state in find and write of the sweep', file: 'server/lease/expiry.ts', inside: 'expiryStatement', from: new RegExp(`${STATE} and `, 'g'), to: '', first: ['lease/races'],
    equivalent: 'only a running row has an expiry (CHECK running_is_held); the state is there for the partial index',
  },
  { guard: 'skip locked in the sweep', file: 'server/lease/expiry.ts', inside: 'expiryStatement', from: 'for update skip locked', to: 'for update', first: ['lease/races'] },
  { guard: 'lock before the write of the sweep', file: 'server/lease/expiry.ts', inside: 'expiryStatement', from: ' for update skip locked', to: '', first: ['lease/races'] },
  { guard: 'whose rows are given back', file: 'server/lease/release.ts', inside: 'giveBackUnknown', from: /(t\.)?worker_id = \$1/g, to: '$$1::text is not null', first: ['lease/tokens'] },
  { guard: 'known rows are not given back', file: 'server/lease/release.ts', inside: 'giveBackUnknown', from: 'id <> all ($2::uuid[])', to: '$2::uuid[] is not null', first: ['lease/tokens'] },
  { guard: 'token of the fence', file: 'server/lease/fence.ts', inside: 'fence', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: ['lease/tokens'] },
  { guard: 'state of the fence', file: 'server/lease/fence.ts', inside: 'fence', from: ' and ${isHeld(queue)}', to: '', first: ['lease/tokens'] },
  { guard: 'lock of the fence', file: 'server/lease/fence.ts', inside: 'fence', from: ' for update', to: '', first: ['lease/races'] },
  { guard: 'token of a beat', file: 'server/lease/renew.ts', inside: 'buildStatement', from: ' and t.lease_token = b.token', to: '', first: ['lease/renew', 'lease/races'] },
  { guard: 'state of a beat', file: 'server/lease/renew.ts', inside: 'buildStatement', from: `\${isHeld(queue, 't')} and `, to: '', first: ['lease/renew', 'lease/races'] },
  { guard: 'skip locked in a beat', file: 'server/lease/renew.ts', inside: 'buildStatement', from: 'for update of t skip locked', to: 'for update of t', first: ['lease/renew', 'lease/races'] },
  { guard: 'not ended before a cancel', file: 'server/lease/cancel.ts', inside: 'cancelRows', from: `and t.state in (\${queue.states.filter(isOpen).map((state) => \`'\${state}'\`).join(', ')})`, to: '', first: ['lease/races'] },
  { guard: 'lock before a cancel', file: 'server/lease/cancel.ts', inside: 'cancelRows', from: 'order by t.id for update of t', to: '', first: ['lease/races'] },
  { guard: 'queued before bytes expire', file: 'server/lease/staged.ts', inside: 'expireStatement', from: `t.state = 'queued'`, to: 'true', first: ['lease/staged'] },
  { guard: 'age before bytes expire', file: 'server/lease/staged.ts', inside: 'expireStatement', from: 'c.ran_seconds - t.${clockColumn} > $2', to: '$2::float8 is not null', first: ['lease/staged'] },
  { guard: 'awaiting in find and write of a repair', file: 'server/lease/reconcile.ts', inside: 'reconcileParents', from: "p.state = 'awaiting'", to: 'true', also: ['correction'], first: ['lease/sweep'] },
  { guard: 'token of what counts as already ended', file: 'server/lease/settle.ts', inside: 'classifyMissed', from: ' and e.lease_token = m.token', to: '', first: ['lease/tokens'] },
  { guard: 'one sweep at a time', file: 'server/lease/sweep.ts', inside: 'underLock', from: 'rows[0].locked', to: '(rows[0].locked || true)', first: ['lease/races'] },
  { guard: 'token of a lease that an operator takes away', file: 'server/lease/take-back.ts', inside: 'takeBack', from: ' and t.lease_token = $2', to: ' and $2::bigint is not null', first: ['operations/stale-pages', 'operations/operate'] },
  { guard: 'expiry of a stale lease that an operator takes away', file: 'server/lease/take-back.ts', inside: 'takeBack', from: ' and t.lease_expires_at < now()', to: '', first: ['operations/stale-pages', 'operations/operate'] },
  {
    guard: 'token of the columns that come with a success', file: 'server/lease/settle.ts', inside: 'setColumns', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: [],
    equivalent: 'fence() has locked the row under this token in the same transaction',
  },
  { guard: 'token of what a parse item reads', file: 'server/parse/parse-item.ts', inside: 'readItem', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: ['parse/parse-item'] },
  {
    guard: 'token of what a parse item records', file: 'server/parse/parse-item.ts', inside: 'record', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: [],
    equivalent: 'fence() has locked the row under this token in the same transaction',
  },
  { guard: 'token of the staged bytes', file: 'server/parse/staged-bytes.ts', inside: 'readPiece', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: ['parse/parse-item'] },
  { guard: 'fence of a batch of embeddings', file: 'server/parse/parse-job.ts', inside: 'embedPending', from: 'await fence(tx, lease);', to: '', first: ['parse/parse-job'] },
  { guard: 'token of the claim that is judged', file: 'server/citations/check-citation.ts', inside: 'readClaim', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: ['citations/check-citation'] },
  { guard: 'token of each step of a publish', file: 'server/deployments/standing.ts', inside: 'OURS', from: ' and lease_token = $2', to: ' and $2::bigint is not null', first: ['deployments/standing'] },
  { guard: 'a newer release stays live', file: 'server/deployments/standing.ts', inside: 'switchLive', from: ` and coalesce((live_release->>'publishNo')::int, 0) < publish_no`, to: '', first: ['deployments/standing'] },
  { guard: 'silence before a publish lock is taken over', file: 'server/deployments/lock.ts', inside: 'TAKE', from: `(d.state <> 'building' or d.heartbeat_at < now() - $6::double precision * interval '1 second')`, to: 'true', first: ['deployments/lock'] },
  { guard: 'token of the publish lock that is cleared', file: 'server/deployments/unlock.ts', inside: 'clearStuckLock', from: ' and d.lease_token = $2', to: ' and $2::bigint is not null', first: ['deployments/lock'] },
  { guard: 'silence before a publish lock is cleared', file: 'server/deployments/unlock.ts', inside: 'clearStuckLock', from: ` and d.heartbeat_at < now() - $3::double precision * interval '1 second'`, to: ' and $3::double precision is not null', first: ['deployments/lock'] },
  { guard: 'only what failed or was cancelled is queued again', file: 'server/lease/reopen.ts', inside: 'reopen', from: ` and t.state in ('failed', 'cancelled')`, to: '', first: ['lease/reopen'] },
  { guard: 'only what waits is offered again', file: 'server/lease/reopen.ts', inside: 'offerAgain', from: " and ${isWaiting(queue, 't')}", to: '', first: ['lease/reopen'] },
  { guard: 'only a held lease is taken away by an operator', file: 'server/lease/take-back.ts', inside: 'takeBack', from: "${isHeld(queue, 't')} and ", to: '', first: ['operations/stale-pages'] },
  { guard: 'only a worker that lives is drained', file: 'server/lease/worker-orders.ts', inside: 'orderDrain', from: ' and ${isLive()}', to: '', first: ['operations/stale-pages'] },
  { guard: 'a worker that drains is not drained again', file: 'server/lease/worker-orders.ts', inside: 'orderDrain', from: ' and draining_since is null', to: '', first: ['operations/stale-pages'] },
  { guard: 'only an operator\'s drain is taken back', file: 'server/lease/worker-orders.ts', inside: 'orderResume', from: ` and drained_by = 'operator'`, to: '', first: ['operations/stale-pages'] },
  { guard: 'a publish that is not building is not asked to end', file: 'server/deployments/unlock.ts', inside: 'requestCancel', from: `d.state = 'building' and `, to: '', first: ['operations/stale-pages'] },
  {
    guard: 'what a user unlinked stays unlinked', file: 'server/sources/session-sources.ts', inside: 'linkSource',
    from: 'and not exists (select 1 from parse_jobs j where j.id = $5 and', to: 'and not exists (select 1 from parse_jobs j where j.id = $5 and false and', first: ['operations/resets'],
  },
  { guard: 'a reset waits for the file that is linking', file: 'server/sources/session-reset.ts', inside: 'tellUploads', from: 'order by id for update`', to: 'order by id`', first: ['operations/resets'] },
  { guard: 'one look at a time', file: 'server/webhook/attention.ts', inside: 'takeLook', from: 'looked_at is null or looked_at <= now() - make_interval(secs => $1)', to: '$1::float8 is not null', first: ['webhook/attention'] },
  { guard: 'a look that was overtaken changes nothing', file: 'server/webhook/attention.ts', inside: 'record', from: 'where recorded < $1', to: 'where $1::bigint is not null', first: ['webhook/attention'] },
  { guard: 'what was not looked at has not stood', file: 'server/webhook/attention.ts', inside: 'see', from: 'a.message_id is null and a.seen_at < now() - make_interval(secs => $2)', to: '$2::float8 is null', first: ['webhook/attention'] },
  { guard: 'grace before a beginning is told', file: 'server/webhook/attention.ts', inside: 'tellBegun', from: 'began_at <= now() - make_interval(secs => $1)', to: '$1::float8 is not null', first: ['webhook/attention'] },
  { guard: 'grace before an end is told', file: 'server/webhook/attention.ts', inside: 'tellEnded', from: 'secs => $1::float8 +', to: 'secs => 0 * $1::float8 +', first: ['webhook/attention'] },
  { guard: 'the end of what nobody was told of is not told', file: 'server/webhook/attention.ts', inside: 'mayBeKnown', from: 'sent_at is not null or doubted or sender_expires_at is not null as known', to: 'true as known', first: ['webhook/attention'] },
  { guard: 'one sender of a message at a time', file: 'server/webhook/outbox.ts', inside: 'takeMessage', from: 'sender_expires_at <= now()', to: 'true', first: ['webhook/outbox'] },
  { guard: 'a receiver that is away rests', file: 'server/webhook/outbox.ts', inside: 'takeMessage', from: 'select 1 from webhook where retry_at > now()', to: 'select 1 from webhook where false', first: ['webhook/outbox'] },
  { guard: 'of one trouble, in order', file: 'server/webhook/outbox.ts', inside: 'takeMessage', from: 'e.attention_key = m.attention_key and e.no < m.no', to: 'false', first: ['webhook/outbox'] },
  { guard: 'what a dead sender may have sent is in doubt', file: 'server/webhook/outbox.ts', inside: 'takeMessage', from: 'doubted = doubted or sender_expires_at is not null,', to: '', first: ['webhook/outbox'] },
  { guard: 'giving up locks in the order of a look', file: 'server/webhook/outbox.ts', inside: 'giveUp', from: ' from receiver where', to: ' where', first: ['webhook/outbox'] },
  { guard: 'token of what became of a message', file: 'server/webhook/outbox.ts', inside: 'settle', from: ' and sender_token = $2', to: ' and $2::bigint is not null', first: ['webhook/outbox'] },
];
