/**
 * A small reference for one parse job with two items, two workers and a sweeper: what each operation answers and what the rows are after it.
 * Plain data, so that a state can be remembered, compared and reached again.
 */
export interface ModelItem {
  state: string; token: number; holder: string | null; attempt: number; lost: number; stale: boolean; due: number; code: string | null;
  /** The token whose lease a cancel has ended: one that had been swept before is lost all the same. */
  takenByCancel: number | null;
}

export interface Model {
  items: ModelItem[];
  job: { state: string; open: number; succeeded: number };
  /** What each worker believes to hold, in the order it was acquired: a belief outlives the lease. */
  beliefs: Record<string, { item: number; token: number }[]>;
  clock: number;
}

export const OPERATIONS = ['alice acquires', 'bob acquires', 'alice renews', 'alice succeeds', 'alice retries', 'bob succeeds', 'alice drains', 'leases run out', 'sweep', 'cancel job', 'cancel first item'] as const;
export type Operation = (typeof OPERATIONS)[number];

export function begin(): Model {
  const item = (due: number): ModelItem => ({ state: 'queued', token: 0, holder: null, attempt: 0, lost: 0, stale: false, due, code: null, takenByCancel: null });
  return { items: [item(0), item(1)], job: { state: 'awaiting', open: 2, succeeded: 0 }, beliefs: { alice: [], bob: [] }, clock: 2 };
}

/** Applies the operation in place. @returns what the engine must answer. */
export function apply(model: Model, operation: Operation): unknown {
  const [who, verb] = operation.split(' ') as [string, string];
  if (verb === 'acquires') return acquired(model, who);
  if (verb === 'renews') return renewed(model, who);
  if (verb === 'succeeds') return ended(model, who, 'succeed');
  if (verb === 'retries') return ended(model, who, 'retry');
  if (verb === 'drains') return ended(model, who, 'drain');
  if (operation === 'leases run out') return void model.items.forEach((item) => { item.stale = item.state === 'running'; });
  if (operation === 'sweep') return swept(model);
  return operation === 'cancel job' ? cancelledJob(model) : cancelledItem(model);
}

const held = (model: Model, belief: { item: number; token: number }) => {
  const item = model.items[belief.item]!;
  return item.state === 'running' && item.token === belief.token ? item : undefined;
};

function acquired(model: Model, who: string): unknown {
  const [item] = model.items.filter((one) => one.state === 'queued').sort((a, b) => a.due - b.due);
  if (!item) return null;
  Object.assign(item, { state: 'running', token: item.token + 1, holder: who, stale: false });
  const belief = { item: model.items.indexOf(item), token: item.token };
  model.beliefs[who]!.push(belief);
  return { ...belief };
}

function renewed(model: Model, who: string): unknown {
  const newest = new Map(model.beliefs[who]!.map((belief) => [belief.item, belief]));
  return [...newest.values()].map((belief) => {
    const item = held(model, belief);
    if (item) item.stale = false;
    return [belief.item, item ? 'renewed' : 'gone'];
  });
}

/** The oldest belief ends, true or not. */
function ended(model: Model, who: string, verb: 'succeed' | 'retry' | 'drain'): unknown {
  const belief = model.beliefs[who]!.shift();
  if (!belief) return null;
  const item = held(model, belief);
  if (!item) return verb === 'drain' && model.items[belief.item]!.takenByCancel === belief.token ? 'already' : 'lost';
  if (verb === 'succeed') finish(model, item, 'succeeded', null);
  if (verb === 'drain') Object.assign(item, { state: 'queued', holder: null, stale: false });
  if (verb === 'retry') {
    item.attempt += 1;
    if (item.attempt >= 2) finish(model, item, 'failed', 'internal');
    else Object.assign(item, { state: 'queued', holder: null, stale: false, due: model.clock++, code: 'internal' });
  }
  return 'settled';
}

function finish(model: Model, item: ModelItem, state: string, code: string | null): void {
  if (state === 'cancelled' && item.state === 'running') item.takenByCancel = item.token;
  Object.assign(item, { state, holder: null, stale: false, code });
  model.job.open -= 1;
  if (state === 'succeeded') model.job.succeeded += 1;
  if (model.job.open === 0 && model.job.state === 'awaiting') model.job.state = model.job.succeeded > 0 ? 'queued' : 'failed';
}

function swept(model: Model): unknown {
  const stale = model.items.filter((item) => item.stale);
  let failed = 0;
  for (const item of stale) {
    item.lost += 1;
    if (item.lost >= 2) { finish(model, item, 'failed', 'worker_lost'); failed += 1; }
    else Object.assign(item, { state: 'queued', holder: null, stale: false });
  }
  return { requeued: stale.length - failed, failed };
}

const open = (state: string) => ['awaiting', 'queued', 'running'].includes(state);

function cancelledItem(model: Model): unknown {
  const item = model.items[0]!;
  if (!open(item.state)) return { rows: 0, lost: 0 };
  const lost = Number(item.state === 'running');
  finish(model, item, 'cancelled', 'cancelled');
  return { rows: 1, lost };
}

function cancelledJob(model: Model): unknown {
  const items = model.items.filter((item) => open(item.state));
  const lost = items.filter((item) => item.state === 'running').length;
  const rows = items.length + Number(open(model.job.state));
  if (open(model.job.state)) model.job.state = 'cancelled';
  for (const item of items) finish(model, item, 'cancelled', 'cancelled');
  return { rows, lost };
}

/** Everything that a later answer can depend on, with times reduced to their order. */
export function keyOf(model: Model): string {
  const dues = model.items.map((item) => item.due).sort((a, b) => a - b);
  return JSON.stringify({ ...model, clock: 0, items: model.items.map((item) => ({ ...item, due: dues.indexOf(item.due) })) });
}
