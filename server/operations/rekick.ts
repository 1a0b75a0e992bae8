/**
 * Sets work going again. What waits is offered once more, its backoff cut short. What has ended without success is queued with fresh counters,
 * but only if its input still exists and the user's caps allow it; a finished analysis reopens its failed citations, and a failed publish takes
 * the lock anew. Decided under the user's lock, like an upload or an analysis of that user.
 */
import type pg from 'pg';
import { lockUser } from '../api/admission.js';
import { takeLock } from '../deployments/lock.js';
import { analysisJobs, deployments, jobCitations, OPEN_STATES, parseItems, parseJobs, type QueueDefinition } from '../lease/queues.js';
import { offerAgain, reopen } from '../lease/reopen.js';
import { isWaiting } from '../lease/words.js';
import { readPause } from '../lease/worker-orders.js';
import { defineAction, type Applied, type Effect, type Snapshot } from './action.js';
import { rowFields, rowTarget } from './row-fields.js';
import { ago, byWhom, endedHow, holderOf, readRowNow, whoMoved, type RowNow } from './row-now.js';
import { spell } from './spell.js';

type Code = 'input_gone' | 'running' | 'already_queued' | 'cap_reached' | 'finished' | 'analysis_in_progress' | 'queue_paused';

const OPEN = OPEN_STATES.map((state) => `'${state}'`).join(', ');

export const rekick = defineAction({
  name: 'rekick',
  permission: 'operator',
  fields: rowFields,
  target: rowTarget,
  guard: 'Only what waits, or has ended without success while its input still exists and the user\'s caps allow it.',
  consequence: 'What waits is offered to workers again at once. What failed starts anew with fresh counters; a finished analysis checks its failed citations again, and its report is complete once they have ended.',
  did: ({ before, after }) => after.offered === true ? `Offered it to the workers again${after.paused === true ? '; its queue is paused, so it is taken once that is resumed' : ''}.`
    : after.citations !== undefined ? `Reopened ${String(after.citations)} failed citations; the analysis awaits them again.`
    : after.publishNo !== undefined ? `Started publish ${String(after.publishNo)} of the app.`
    : `Queued it again with fresh counters (it was ${String(before.state)}).`,
  refusals: {
    input_gone: ({ ask }) => `Its input no longer exists: ${String(ask)} Nothing was changed.`,
    running,
    already_queued: (facts) => `It was queued again already${byWhom(facts)}, and waits for a worker. Nothing was changed; if it stays, look at whether a worker for it lives and its queue is not paused.`,
    cap_reached: ({ limit, current }) => `Its user has ${String(current)} uploads that are still being parsed; ${String(limit)} are allowed at once. Nothing was changed; wait until one has ended.`,
    finished: (facts) => `There is nothing to repeat: it is ${endedHow(facts)}, and nothing of it failed. Nothing was changed.`,
    analysis_in_progress: ({ jobId }) => `The same thesis is being analysed for this session already (${String(jobId)}). Nothing was changed; wait for that one.`,
    queue_paused: ({ by, seconds, reason }) => `Publishing is paused by ${String(by)}, ${spell(Number(seconds))} ago (“${String(reason)}”). Nothing was changed; resume the queue first.`,
  },
  async act(tx, { queue, id }, { config, actor }) {
    const first = await readRowNow(tx, queue, id, { lock: false });
    if (!first) return { outcome: 'refused', code: 'not_found', now: null };
    await lockUser(tx, first.owner.userId);
    if (await isUntouchedSinceRekick(tx, queue, id)) return refused(await whatIs(tx, queue, id), 'already_queued', await whoMoved(tx, queue, id));
    // A parent is not locked here: its children are locked first, by the statement that reopens them.
    const found = (await readRowNow(tx, queue, id, { lock: !queue.children }))!;
    const work: Work = { tx, queue, id, row: found.row, owner: found.owner, limits: config, actor: actor.name };
    if (await offerAgain(tx, queue, id)) return applied(work, { state: found.row.state, offered: true, paused: (await readPause(tx, queue.table)) !== undefined });
    const effect = queue.children ? await again({ ...work, row: await whatIs(tx, queue, id) }) : await again(work);
    return effect.outcome === 'refused' && ['running', 'finished'].includes(effect.code) ? { ...effect, facts: await whoMoved(tx, queue, id) } : effect;
  },
});

function running(facts: Snapshot): string {
  if (facts.worker === null) return `It awaits its own parts${facts.how === 'rekick' ? `: they were queued again${byWhom(facts)}` : ', which are under way'}. Nothing was changed; if one of them is stuck, re-kick that one.`;
  const since = `${holderOf(facts)} took it ${ago(facts.held)}`;
  if (Number(facts.leaseLeft) < 0) return `It is held: ${since}, but its lease ran out ${ago(-Number(facts.leaseLeft))}. Nothing was changed; release the stale lease instead.`;
  return `It is running: ${since}, last beat ${ago(facts.silent)}. Nothing was changed; wait for it.`;
}

/** It waits, and nothing has happened to it since it was last queued again: a second time would change nothing. */
async function isUntouchedSinceRekick(tx: pg.PoolClient, queue: QueueDefinition, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from ${queue.table} t where t.id = $1 and ${isWaiting(queue, 't')}
        and (select max(a.at) from operator_actions a where a.target_id = any (array[t.id::text${queue.parent ? `, t.${queue.parent.column}::text` : ''}]) and a.action = 'rekick' and a.outcome = 'applied')
            >= (select e.at from queue_events e where e.row_id = t.id order by e.id desc limit 1)`, [id]);
  return rowCount === 1;
}

async function whatIs(tx: pg.PoolClient, queue: QueueDefinition, id: string): Promise<RowNow> {
  return (await readRowNow(tx, queue, id, { lock: false }))!.row;
}

async function again(work: Work): Promise<Effect<Code>> {
  const { queue, row } = work;
  if (row.ended === null) return refused(row, 'running');
  return ways[queue.table]?.(work) ?? refused(row, 'finished');
}

interface Work {
  tx: pg.PoolClient;
  queue: QueueDefinition;
  id: string;
  row: RowNow;
  owner: { userId: string; sessionId?: string };
  limits: { maxActiveParseJobsPerUser: number; publishDeadAfterSeconds: number; maxAttempts: number };
  actor: string;
}

/** What has ended, by queue. */
const ways: Readonly<Record<string, (work: Work) => Promise<Effect<Code>>>> = {
  [parseItems.table]: async ({ row }) => row.state === 'succeeded' ? refused(row, 'finished')
    : refused(row, 'input_gone', { ask: 'uploaded bytes are erased when a file ends. Ask the customer to upload the file again.' }),
  [parseJobs.table]: parseJobAgain,
  [analysisJobs.table]: analysisAgain,
  [jobCitations.table]: citationAgain,
  [deployments.table]: publishAgain,
};

/** Its files have ended; embedding and linking those that were read can be repeated. */
async function parseJobAgain(work: Work): Promise<Effect<Code>> {
  const { tx, row, id, owner, limits } = work;
  if (row.state === 'succeeded') return refused(row, 'finished');
  const { rows } = await tx.query<{ read: number; open: number }>(
    `select (select succeeded_children from ${parseJobs.table} where id = $1) as read, (select count(*)::int from ${parseJobs.table} where user_id = $2 and state in (${OPEN})) as open`, [id, owner.userId]);
  if (rows[0]!.read === 0) return refused(row, 'input_gone', { ask: 'none of its files could be read and their bytes are erased. Ask the customer to upload them again.' });
  if (rows[0]!.open >= limits.maxActiveParseJobsPerUser) return refused(row, 'cap_reached', { limit: limits.maxActiveParseJobsPerUser, current: rows[0]!.open });
  return requeue(work);
}

async function analysisAgain(work: Work): Promise<Effect<Code>> {
  const { tx, row, id } = work;
  const other = await tx.query<{ id: string }>(
    `select o.id from ${analysisJobs.table} j join ${analysisJobs.table} o on o.user_id = j.user_id and o.session_id = j.session_id and o.thesis_document_id = j.thesis_document_id and o.id <> j.id
      where j.id = $1 and o.state in (${OPEN}) limit 1`, [id]);
  if (other.rows[0]) return refused(row, 'analysis_in_progress', { jobId: other.rows[0].id });
  const { rows } = await tx.query<{ thesis: boolean; citations: number; unsuccessful: number }>(
    `select j.thesis_document_id is not null as thesis, (select count(*)::int from ${jobCitations.table} c where c.job_id = j.id) as citations,
            (select count(*)::int from ${jobCitations.table} c where c.job_id = j.id and ${repeatable(row)}) as unsuccessful
       from ${analysisJobs.table} j where j.id = $1`, [id]);
  const { thesis, citations, unsuccessful } = rows[0]!;
  if (citations > 0 && unsuccessful > 0) return citationsAgain(work, await repeatableCitations(work));
  if (row.state === 'succeeded' || citations > 0) return refused(row, 'finished');
  if (!thesis) return refused(row, 'input_gone', { ask: 'the thesis was erased. Ask the customer to upload it again and to start a new analysis.' });
  return requeue(work);
}

/** Of a cancelled analysis also those that were cancelled with it. */
function repeatable({ state }: RowNow): string {
  return state === 'cancelled' ? `c.state in ('failed', 'cancelled')` : `c.state = 'failed'`;
}

async function repeatableCitations({ tx, id, row }: Work): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(`select c.id from ${jobCitations.table} c where c.job_id = $1 and ${repeatable(row)} and ${HAS_SOURCE} order by c.id`, [id]);
  return rows.map((each) => each.id);
}

/** A citation can be checked while the document it cites is still linked in its session; without the link nothing of it may be read. */
const HAS_SOURCE = `exists (select 1 from session_sources s where s.user_id = c.user_id and s.session_id = c.session_id and s.document_id = c.document_id)`;
const SOURCE_GONE = 'the cited source is no longer linked in this session. Ask the customer to upload or link it again, and to start a new analysis.';

async function citationsAgain(work: Work, ids: readonly string[]): Promise<Effect<Code>> {
  if (ids.length === 0) return refused(work.row, 'input_gone', { ask: SOURCE_GONE });
  const { rows, parents } = await reopen(work.tx, jobCitations, ids);
  return applied(work, { state: 'awaiting', citations: rows.length }, [{ table: jobCitations.table, ids: rows }, { table: analysisJobs.table, ids: parents }], jobCitations.table);
}

async function citationAgain(work: Work): Promise<Effect<Code>> {
  const { tx, row, id } = work;
  if (row.state === 'succeeded') return refused(row, 'finished');
  const { rows } = await tx.query<{ linked: boolean; parent: string; other: string | null }>(
    `select ${HAS_SOURCE} as linked, j.id as parent,
            (select o.id from ${analysisJobs.table} o where o.user_id = j.user_id and o.session_id = j.session_id and o.thesis_document_id = j.thesis_document_id and o.id <> j.id and o.state in (${OPEN}) limit 1) as other
       from ${jobCitations.table} c join ${analysisJobs.table} j on j.id = c.job_id where c.id = $1`, [id]);
  const { linked, other } = rows[0]!;
  if (other) return refused(row, 'analysis_in_progress', { jobId: other });
  if (!linked) return refused(row, 'input_gone', { ask: SOURCE_GONE });
  return requeue(work);
}

/** The next publish of the same app under the same name. */
async function publishAgain(work: Work): Promise<Effect<Code>> {
  const { tx, row, id, limits, actor } = work;
  if (row.state === 'live') return refused(row, 'finished');
  const { rows } = await tx.query<{ projectId: string; slug: string; userId: string }>(`select project_id as "projectId", slug, user_id as "userId" from ${deployments.table} where id = $1`, [id]);
  const answer = await takeLock(tx, { ...rows[0]!, requestedBy: 'button', source: `re-kick by ${actor}`.slice(0, 200) }, limits.publishDeadAfterSeconds, limits.maxAttempts);
  if (answer.kind === 'taken') return applied(work, { state: 'building', publishNo: answer.lock.publishNo });
  if (answer.kind === 'paused') return refused(row, 'queue_paused', { ...(await readPause(tx, deployments.table)) ?? { by: 'someone', seconds: 0, reason: answer.reason } });
  return refused((await readRowNow(tx, deployments, id))!.row, 'running');
}

async function requeue(work: Work): Promise<Effect<Code>> {
  const { tx, queue, id } = work;
  const { rows, parents } = await reopen(tx, queue, [id]);
  if (rows.length === 0) return refused((await readRowNow(tx, queue, id, { lock: false }))!.row, 'running');
  return applied(work, { state: 'queued', attempt: 0, lostLeases: 0 }, [{ table: queue.table, ids: rows }, ...(queue.parent ? [{ table: queue.parent.queue, ids: parents }] : [])]);
}

/** `low`: the rows stand below the mark of workers that have looked further. */
function applied({ queue, id, row, owner }: Work, after: Snapshot, changed: Applied['changed'] = [{ table: queue.table, ids: [id] }], kicked = queue.table): Applied {
  return { outcome: 'applied', before: row, after, owner, changed, kicks: [{ q: kicked, low: true }] };
}

function refused(now: RowNow, code: Code, facts: Snapshot = {}): Effect<Code> {
  return { outcome: 'refused', code, now, facts };
}
