/**
 * A reference for two parse jobs of two items each, two workers, a sweeper and an operator: what each operation answers and what every row is
 * after it. Knows nothing of SQL. Rows 0–3 are the items, 4 and 5 their jobs.
 */
export const ITEMS = [0, 1, 2, 3] as const;
export const JOBS = [4, 5] as const;
export const WORKERS = ['alice', 'bob'] as const;
export const QUEUES = ['items', 'jobs'] as const;
/** Seconds: how long a retry or an outage puts a row off, and how far time goes on at once. A lease is as long as the latter. */
export const PUT_OFF = 30;
export const PASSES = 60;
/** High enough that a row lives for as long as a script does, low enough that some reach them. */
export const MAX_LOST = 4;
export const MAX_ATTEMPTS = { items: 4, jobs: 3 };

export type WorkerName = (typeof WORKERS)[number];
export type QueueName = (typeof QUEUES)[number];
export type EndVerb = 'succeed' | 'fail' | 'retry' | 'outage' | 'drain' | 'unstarted';
export const GIVES_BACK: readonly EndVerb[] = ['drain', 'unstarted'];

export interface ModelRow {
  state: string;
  token: number;
  holder: string | null;
  attempt: number;
  lost: number;
  /** Its lease has run out. */
  stale: boolean;
  /** When it may be claimed; only the order and the sign of the difference to `now` count. */
  due: number;
  code: string | null;
  /** Causes of its events, in order. */
  causes: string[];
}

export interface ModelJob extends ModelRow { open: number; succeeded: number }

/** What a worker takes for its own; a belief outlives the lease. */
export interface Belief { row: number; token: number }

export interface Model {
  rows: ModelRow[];
  /** By worker: what it believes to hold, oldest first, and which start of the process it is. */
  beliefs: Record<WorkerName, Belief[]>;
  starts: Record<WorkerName, number>;
  paused: Record<QueueName, boolean>;
  /** How the lease of a row under a token ended, by `row/token`. */
  ends: Record<string, string>;
  now: number;
}

export const queueOf = (row: number): QueueName => (row < ITEMS.length ? 'items' : 'jobs');
export const rowsOf = (queue: QueueName): readonly number[] => (queue === 'items' ? ITEMS : JOBS);
export const jobOf = (item: number): number => JOBS[Math.floor(item / 2)]!;
export const itemsOf = (job: number): number[] => ITEMS.filter((item) => jobOf(item) === job);
/** The identity in the registry: unique a start. */
export const identityOf = ({ starts }: Pick<Model, 'starts'>, who: WorkerName): string => `w-${who}-${starts[who]}`;
const isOpen = (state: string) => ['awaiting', 'queued', 'running'].includes(state);

export function begin(): Model {
  const row = (state: string, due: number): ModelRow => ({ state, token: 0, holder: null, attempt: 0, lost: 0, stale: false, due, code: null, causes: ['enqueue'] });
  const job = (): ModelJob => ({ ...row('awaiting', 0), open: 2, succeeded: 0 });
  return {
    rows: [...ITEMS.map((item) => row('queued', item / 100)), job(), job()],
    beliefs: { alice: [], bob: [] }, starts: { alice: 1, bob: 1 }, paused: { items: false, jobs: false }, ends: {}, now: 1,
  };
}

/** Claims the first that are due, and nothing of a paused queue. @returns what was claimed, by row. */
export function acquire(model: Model, who: WorkerName, queue: QueueName, limit: number, heard: boolean): Belief[] {
  if (model.paused[queue]) return [];
  const claimable = rowsOf(queue).filter((at) => model.rows[at]!.state === 'queued' && model.rows[at]!.due <= model.now);
  const taken = claimable.sort((a, b) => model.rows[a]!.due - model.rows[b]!.due || a - b).slice(0, limit).sort((a, b) => a - b);
  const claimed = taken.map((at) => {
    const row = model.rows[at]!;
    Object.assign(row, { state: 'running', token: row.token + 1, holder: identityOf(model, who), stale: false });
    row.causes.push('acquire');
    return { row: at, token: row.token };
  });
  if (heard) model.beliefs[who].push(...claimed);
  return claimed.map((belief) => ({ ...belief }));
}

/** Of two beliefs in one row, a process keeps the newer (worker/holdings.ts). */
export function newest(beliefs: readonly Belief[]): Belief[] {
  return [...new Map(beliefs.map((belief) => [belief.row, belief])).values()].sort((a, b) => a.row - b.row);
}

export function beat(model: Model, who: WorkerName): [number, string][] {
  return newest(model.beliefs[who]).map((belief) => {
    const row = held(model, belief);
    if (row) row.stale = false;
    return [belief.row, row ? 'renewed' : 'gone'];
  });
}

function held(model: Model, { row, token }: Belief): ModelRow | undefined {
  const found = model.rows[row]!;
  return found.state === 'running' && found.token === token ? found : undefined;
}

/** An end that was written before counts as done if it was this one; a give-back is content with any end but a lost lease (settle.ts). */
const DONE_BY: Record<EndVerb, string[]> = {
  succeed: ['succeed'], fail: ['fail'], retry: ['retry', 'fail'], outage: ['outage'],
  drain: ['drain', 'unstarted', 'succeed', 'fail', 'retry', 'outage', 'cancel', 'answer_lost'],
  unstarted: ['unstarted', 'drain', 'cancel', 'answer_lost'], // it never began: an end of its own would be somebody else's
};

/** Ends these beliefs in one statement. @returns what became of each, by row. */
export function end(model: Model, ends: readonly { belief: Belief; verb: EndVerb }[]): [number, string][] {
  return ends.map(({ belief, verb }) => {
    const row = held(model, belief);
    if (row) {
      write(model, belief, row, verb);
      return [belief.row, 'settled'];
    }
    const before = model.ends[keyOf(belief)];
    if (before !== undefined && DONE_BY[verb].includes(before)) return [belief.row, 'already'];
    model.rows[belief.row]!.causes.push('late_write');
    return [belief.row, 'lost'];
  });
}

const keyOf = ({ row, token }: Belief) => `${row}/${token}`;

function write(model: Model, belief: Belief, row: ModelRow, verb: EndVerb): void {
  if (verb === 'fail' || verb === 'retry') row.attempt += 1;
  if (verb === 'succeed') return finish(model, belief.row, 'succeeded', null, 'succeed');
  if (verb === 'fail' || (verb === 'retry' && row.attempt >= MAX_ATTEMPTS[queueOf(belief.row)])) return finish(model, belief.row, 'failed', verb, 'fail');
  back(model, belief.row, verb);
  if (!GIVES_BACK.includes(verb)) Object.assign(row, { due: model.now + PUT_OFF, code: verb });
}

function back(model: Model, at: number, cause: string): void {
  const row = model.rows[at]!;
  model.ends[keyOf({ row: at, token: row.token })] = cause;
  Object.assign(row, { state: 'queued', holder: null, stale: false });
  row.causes.push(cause);
}

function finish(model: Model, at: number, state: string, code: string | null, cause: string): void {
  const row = model.rows[at]!;
  if (row.state === 'running') model.ends[keyOf({ row: at, token: row.token })] = cause;
  Object.assign(row, { state, holder: null, stale: false, code });
  row.causes.push(cause);
  if (queueOf(at) === 'items') childEnded(model, jobOf(at), state === 'succeeded');
}

function childEnded(model: Model, at: number, well: boolean): void {
  const job = model.rows[at] as ModelJob;
  job.open -= 1;
  job.succeeded += Number(well);
  if (job.open > 0 || job.state !== 'awaiting') return;
  job.causes.push('children');
  if (job.succeeded > 0) Object.assign(job, { state: 'queued', due: model.now });
  else Object.assign(job, { state: 'failed', due: model.now, code: 'no_item_succeeded' });
}

/** After a broken connection: rows that carry this process's identity and that it does not know go back. */
export function giveBackUnknown(model: Model, who: WorkerName): number[] {
  const known = model.beliefs[who].map((belief) => belief.row);
  const unknown = model.rows.flatMap((row, at) => (row.holder === identityOf(model, who) && !known.includes(at) ? [at] : []));
  for (const at of unknown) back(model, at, 'answer_lost');
  return unknown;
}

/** A process is killed and starts anew, under another identity, knowing nothing. Its rows stay as they are. */
export function kill(model: Model, who: WorkerName): void {
  model.beliefs[who] = [];
  model.starts[who] += 1;
}

/** A minute goes by: whatever is held and was not renewed runs out, whatever was put off is due. */
export function passMinute(model: Model): void {
  for (const row of model.rows) {
    row.due -= PASSES;
    if (row.state === 'running') row.stale = true;
  }
}

export function sweep(model: Model): { requeued: number; failed: number } {
  const stale = model.rows.flatMap((row, at) => (row.stale ? [at] : []));
  let failed = 0;
  for (const at of stale) {
    const row = model.rows[at]!;
    row.lost += 1;
    if (row.lost < MAX_LOST) back(model, at, 'sweep');
    else {
      failed += 1;
      finish(model, at, 'failed', 'worker_lost', 'poison');
    }
  }
  return { requeued: stale.length - failed, failed };
}

/** An operator cancels one row; a job takes its open items with it. */
export function cancel(model: Model, at: number): { rows: number[]; lost: number[] } {
  const rows = [...(queueOf(at) === 'jobs' ? itemsOf(at) : []), at].filter((one) => isOpen(model.rows[one]!.state));
  const lost = rows.filter((one) => model.rows[one]!.state === 'running');
  const itself = rows.includes(at) && queueOf(at) === 'jobs';
  // The job's own end comes first here, so that its items' ends do not close it a second time; in the database both are one transaction.
  if (itself) finish(model, at, 'cancelled', 'cancelled', 'cancel');
  for (const one of rows) if (one !== at || !itself) finish(model, one, 'cancelled', 'cancelled', 'cancel');
  return { rows, lost };
}
