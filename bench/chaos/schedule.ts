/** What goes wrong, when and to whom: all of it drawn from the seed before anything starts, so that a seed can be replayed. */
import { Random } from '../../tests/fixtures/theses/random.js';

export const WORKERS = ['worker-1', 'worker-2', 'worker-3'] as const;
export const WEBS = ['web-1', 'web-2'] as const;
export type SlotName = (typeof WORKERS)[number] | (typeof WEBS)[number];

export const KINDS = [
  'SIGKILL of a worker', 'SIGKILL of web', 'SIGTERM of a worker, next version', 'SIGTERM of web, next version', 'SIGSTOP of a worker', 'SIGSTOP of web', 'wrong clock of a worker',
  'backend terminated', 'Postgres restarted, fast', 'Postgres restarted, immediate', 'listener in a black hole', 'pump in a black hole', 'beats in a black hole', 'pool in a black hole',
  'pool full', 'no connection slot left', 'pooler restarted', 'answer of the orchestrator lost',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Fault {
  /** After the beginning (ms). */
  at: number;
  kind: Kind;
  slot: SlotName;
  /** How long it lasts, or how long until what was ended is started again (ms). */
  forMs: number;
  /** A wrong clock: by how much. */
  skewSeconds: number;
  /** Backends: which role's. */
  backend: (typeof BACKENDS)[number];
}

export const BACKENDS = ['worker/pump', 'worker/beats', 'worker/listener', 'web/listener', 'pool', 'all'] as const;

/** Between two faults, on average (ms). */
const SPACING_MS = 1_150;

/** How often each comes, of all; how long it lasts (ms). Starting a process costs seconds of a processor, so ends are a fifth of all. */
const SHARES: Record<Kind, { weight: number; forMs: readonly [number, number] }> = {
  'SIGKILL of a worker': { weight: 7, forMs: [0, 2_500] },
  'SIGKILL of web': { weight: 2, forMs: [0, 1_500] },
  'SIGTERM of a worker, next version': { weight: 5, forMs: [0, 1_000] },
  'SIGTERM of web, next version': { weight: 2, forMs: [0, 1_000] },
  'SIGSTOP of a worker': { weight: 9, forMs: [300, 12_000] },
  'SIGSTOP of web': { weight: 4, forMs: [300, 8_000] },
  'wrong clock of a worker': { weight: 2, forMs: [0, 1_000] },
  'backend terminated': { weight: 26, forMs: [0, 0] },
  'Postgres restarted, fast': { weight: 2, forMs: [0, 3_000] },
  'Postgres restarted, immediate': { weight: 3, forMs: [0, 3_000] },
  'listener in a black hole': { weight: 6, forMs: [1_000, 10_000] },
  'pump in a black hole': { weight: 6, forMs: [1_000, 9_000] },
  'beats in a black hole': { weight: 6, forMs: [1_000, 9_000] },
  'pool in a black hole': { weight: 4, forMs: [1_000, 7_000] },
  'pool full': { weight: 4, forMs: [1_000, 5_000] },
  'no connection slot left': { weight: 3, forMs: [1_000, 4_000] },
  'pooler restarted': { weight: 4, forMs: [0, 0] },
  'answer of the orchestrator lost': { weight: 5, forMs: [0, 0] },
};

export function drawSchedule(seed: number, minutes: number): Fault[] {
  const random = new Random(seed);
  const deck = KINDS.flatMap((kind) => Array<Kind>(SHARES[kind].weight).fill(kind));
  const faults: Fault[] = [];
  for (let at = 1_000; at < minutes * 60_000; at += SPACING_MS * (0.25 + 1.5 * random.next())) faults.push(drawFault(random, Math.round(at), random.pick(deck)));
  return faults;
}

/** Draws the same numbers whatever the kind, so that a change of one share moves only what it must. */
function drawFault(random: Random, at: number, kind: Kind): Fault {
  const [shortest, longest] = SHARES[kind].forMs;
  const slot = { worker: random.pick(WORKERS), web: random.pick(WEBS) };
  const forMs = Math.round(shortest + (longest - shortest) * random.next() ** 2);
  const skewSeconds = random.pick([-86_400, -600, -15, 15, 600, 86_400, 366 * 86_400]);
  return { at, kind, slot: / of web/.test(kind) ? slot.web : slot.worker, forMs, skewSeconds, backend: random.pick(BACKENDS) };
}
