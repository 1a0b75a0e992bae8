/**
 * A simulated service that checks theses: analyses arrive, wait for a slot, have their claims read and their citations checked by slots that
 * all users share. Its record of the past is what the estimate is given, in the shape in which the database has it; its future is the truth.
 * Times in milliseconds. Deterministic for a seed.
 */
import type { PastRun, PastStage } from '../server/console/eta.js';

export interface Scenario {
  name: string;
  about: string;
  analyses: number;
  slots: number;
  userCap: number;
  /** Time between two arrivals of bursts of analyses, and how many come at once. */
  gapMs(random: Random): number;
  burst(random: Random): number;
  citations(random: Random): number;
  readMs(random: Random, citations: number): number;
  checkMs(random: Random): number;
  redeploys?: { everyMs: number; drainMs: number; /** Share of redeploys in which the old process is killed and its rows wait for their leases. */ killed: number; leaseMs: number };
}

export interface Random {
  (): number;
  /** Log-normal with this median; sigma of the logarithm. */
  logNormal(median: number, sigma: number): number;
  /** Pareto above `least`. */
  pareto(least: number, alpha: number): number;
  exponential(mean: number): number;
}

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return Object.assign(next, {
    logNormal: (middle: number, sigma: number) => middle * Math.exp(sigma * normal()),
    pareto: (least: number, alpha: number) => least / (1 - next()) ** (1 / alpha),
    exponential: (mean: number) => -mean * Math.log(1 - next()),
  });
}

/** One analysis as it went. */
export interface Lived {
  citations: number;
  createdAt: number;
  claimedAt: number;
  readAt: number;
  endedAt: number;
  /** When each citation ended, ascending. */
  checks: number[];
}

interface Task {
  owner: number;
  kind: 'read' | 'check';
  ms: number;
}

interface Event {
  at: number;
  what: 'arrive' | 'end' | 'redeploy' | 'back';
  owner?: number;
  task?: Task;
  lease?: number;
}

export function live(scenario: Scenario, seed: number): Lived[] {
  const random = seeded(seed);
  const lives: Lived[] = [];
  const open: number[] = [];
  const heap: Event[] = [];
  const reads: Task[] = [];
  const checks = new Map<number, Task[]>();
  const held = new Map<number, { task: Task; at: number }>();
  let holding = 0;
  let leases = 0;
  let closedUntil = 0;

  for (let at = 0; lives.length < scenario.analyses; at += scenario.gapMs(random)) {
    const burst = Math.min(scenario.burst(random), scenario.analyses - lives.length);
    for (let n = 0; n < burst; n += 1) {
      const createdAt = at + random.exponential(2_000);
      push(heap, { at: createdAt, what: 'arrive', owner: lives.length });
      lives.push({ citations: scenario.citations(random), createdAt, claimedAt: 0, readAt: 0, endedAt: 0, checks: [] });
    }
  }
  const { redeploys } = scenario;
  if (redeploys) for (let at = redeploys.everyMs; at < lives.at(-1)!.createdAt; at += redeploys.everyMs * (0.5 + random())) push(heap, { at, what: 'redeploy' });

  const heldBy = new Map<number, number>();
  const count = (owner: number, by: number) => void heldBy.set(owner, (heldBy.get(owner) ?? 0) + by);

  function next(): Task | undefined {
    const reading = reads.shift();
    if (reading) return reading;
    const owner = open.find((each) => (checks.get(each)?.length ?? 0) > 0 && (heldBy.get(each) ?? 0) < scenario.userCap);
    return owner === undefined ? undefined : checks.get(owner)!.shift();
  }

  function claim(now: number): void {
    if (now < closedUntil) return;
    for (let task = holding < scenario.slots ? next() : undefined; task; task = holding < scenario.slots ? next() : undefined) {
      leases += 1;
      holding += 1;
      held.set(leases, { task, at: now });
      if (task.kind === 'check') count(task.owner, 1);
      else lives[task.owner]!.claimedAt = now;
      push(heap, { at: now + task.ms, what: 'end', lease: leases });
    }
  }

  function end(now: number, lease: number): void {
    const holder = held.get(lease);
    if (!holder) return; // given back meanwhile
    held.delete(lease);
    holding -= 1;
    const { owner, kind } = holder.task;
    const life = lives[owner]!;
    if (kind === 'read') {
      life.readAt = now;
      open.push(owner);
      checks.set(owner, Array.from({ length: life.citations }, () => ({ owner, kind: 'check', ms: scenario.checkMs(random) })));
      return;
    }
    count(owner, -1);
    life.checks.push(now);
    if (life.checks.length < life.citations) return;
    life.endedAt = now;
    open.splice(open.indexOf(owner), 1);
  }

  /** What does not end within the drain is given back and begun again; after a kill it waits for its lease. */
  function redeploy(now: number, { drainMs, killed, leaseMs }: NonNullable<Scenario['redeploys']>): void {
    const dies = random() < killed;
    for (const [lease, { task, at }] of held) {
      if (!dies && at + task.ms <= now + drainMs) continue;
      held.delete(lease);
      holding -= 1;
      if (task.kind === 'check') count(task.owner, -1);
      const again = { ...task, ms: task.kind === 'check' ? scenario.checkMs(random) : task.ms };
      push(heap, { at: now + (dies ? leaseMs * (0.75 + 0.5 * random()) : drainMs + 500 * random()), what: 'back', task: again });
    }
    if (!dies) closedUntil = Math.max(closedUntil, now + 1_000);
    push(heap, { at: closedUntil, what: 'back' });
  }

  for (let event = pop(heap); event; event = pop(heap)) {
    if (event.what === 'arrive') reads.push({ owner: event.owner!, kind: 'read', ms: scenario.readMs(random, lives[event.owner!]!.citations) });
    else if (event.what === 'end') end(event.at, event.lease!);
    else if (event.what === 'redeploy') redeploy(event.at, redeploys!);
    else if (event.task?.kind === 'read') reads.unshift(event.task);
    else if (event.task) checks.get(event.task.owner)!.unshift(event.task);
    claim(event.at);
  }
  return lives;
}

function push(heap: Event[], event: Event): void {
  heap.push(event);
  for (let child = heap.length - 1; child > 0;) {
    const parent = (child - 1) >> 1;
    if (heap[parent]!.at <= heap[child]!.at) return;
    [heap[parent], heap[child]] = [heap[child]!, heap[parent]!];
    child = parent;
  }
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (heap.length > 0 && last) {
    heap[0] = last;
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const smaller = left + 1 < heap.length && heap[left + 1]!.at < heap[left]!.at ? left + 1 : left;
      if (smaller >= heap.length || heap[parent]!.at <= heap[smaller]!.at) break;
      [heap[parent], heap[smaller]] = [heap[smaller]!, heap[parent]!];
      parent = smaller;
    }
  }
  return first;
}

/** The record that the database would have at this moment: the latest finished ones. */
export function recordAt(lives: readonly Lived[], now: number, most: number, steps: number): { runs: PastRun[]; stages: PastStage[]; waits: number[] } {
  const over = lives.filter((life) => life.endedAt <= now).slice(-most);
  return {
    runs: over.map(({ citations, readAt, endedAt, checks }) => ({ units: citations, startedAt: readAt, endedAt, steps: sample(checks, steps) })),
    stages: over.map(({ claimedAt, readAt, endedAt }) => ({ units: null, tookMs: readAt - claimedAt, totalMs: endedAt - claimedAt })),
    waits: lives.filter((life) => life.claimedAt > 0 && life.claimedAt <= now && life.claimedAt > now - 3_600_000).map((life) => life.claimedAt - life.createdAt),
  };
}

/** Every so-manieth in the order in which they were made would be a sample of the ends; so is every so-manieth in the order of the ends. */
function sample(checks: readonly number[], most: number): number[] {
  if (checks.length <= most) return [...checks];
  return Array.from({ length: most }, (_, k) => checks[Math.floor(((k + 0.5) * checks.length) / most)]!);
}
