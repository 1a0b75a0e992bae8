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
import { defineAction, type Applied, type Effect, type Snapshot } from './action.js';
import { rowFields, rowTarget } from './row-fields.js';
import { ago, holderOf, readRowNow, type RowNow } from './row-now.js';

type Code = 'input_gone' | 'running' | 'cap_reached' | 'finished' | 'analysis_in_progress' | 'queue_paused';

const OPEN = OPEN_STATES.map((state) => `'${state}'`).join(', ');

export const rekick = defineAction({
  name: 'rekick',
  permission: 'operator',
  fields: rowFields,
  target: rowTarget,
  guard: 'Only what waits, or has ended without success while its input still exists and the user\'s caps allow it.',
  consequence: 'What waits is offered to workers again at once. What failed starts anew with fresh counters; a finished analysis checks its failed citations again, and its report is complete once they have ended.',
  did: ({ before, after }) => after.offered === true ? 'Offered it to the workers again.'
    : after.citations !== undefined ? `Reopened ${String(after.citations)} failed citations; the analysis awaits them again.`
    : after.publishNo !== undefined ? `Started publish ${String(after.publishNo)} of the app.`
    : `Queued it again with fresh counters (it was ${String(before.state)}).`,
  refusals: {
    input_gone: ({ ask }) => `Its input no longer exists: ${String(ask)} Nothing was changed.`,
    running: (facts) => facts.worker === null ? 'It awaits its own parts, which are under way. Nothing was changed; re-kick the part that is stuck.' : `It is running: ${holderOf(facts)} took it ${ago(facts.held)}. Nothing was changed.`,
    cap_reached: ({ limit, current }) => `Its user has ${String(current)} uploads that are still being parsed; ${String(limit)} are allowed at once. Nothing was changed; wait until one has ended.`,
    finished: ({ state }) => `There is nothing to repeat: it is ${String(state)} and nothing of it failed. Nothing was changed.`,
    analysis_in_progress: ({ jobId }) => `The same thesis is being analysed for this session already (${String(jobId)}). Nothing was changed; wait for that one.`,
    queue_paused: ({ reason }) => `Publishing is paused (“${String(reason)}”). Nothing was changed; resume the queue first.`,
  },
  async act(tx, { queue, id }, { config, actor }) {
    const first = await readRowNow(tx, queue, id, { lock: false });
    if (!first) return { outcome: 'refused', code: 'not_found', now: null };
    await lockUser(tx, first.owner.userId);
    // A parent is not locked here: its children are locked first, by the statement that reopens them.
    const found = (await readRowNow(tx, queue, id, { lock: !queue.children }))!;
    const work: Work = { tx, queue, id, row: found.row, owner: found.owner, limits: config, actor: actor.name };
    if (await offerAgain(tx, queue, id)) return applied(work, { state: found.row.state, offered: true });
    if (found.row.worker !== null || found.row.state === 'awaiting') return refused(found.row, 'running');
    return ways[queue.table]?.(work) ?? refused(found.row, 'finished');
  },
});

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
  if (answer.kind === 'paused') return refused(row, 'queue_paused', { reason: answer.reason });
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
