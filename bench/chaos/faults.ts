/** Each kind of fault, done to the stage. A fault resolves when it is over; one whose victim is not there (it is ending already) is left out. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Slot } from './fleet.js';
import type { Fault, Kind } from './schedule.js';
import { MAX_CONNECTIONS, SETTINGS } from './settings.js';
import type { Stage } from './stage.js';

export interface Injected {
  fault: Fault;
  /** On the monotonic clock, from the beginning (ms). `null`: nobody was there. */
  from: number | null;
  to: number;
  /** What was hit, as it is called. */
  victim: string;
}

/** @returns what was hit; undefined when nobody was there. */
type Act = (stage: Stage, fault: Fault) => Promise<string | undefined>;

export class Injector {
  readonly injected: Injected[] = [];
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly stage: Stage, private readonly now: () => number) {}

  begin(fault: Fault): void {
    const run = this.inject(fault).finally(() => this.running.delete(run));
    this.running.add(run);
  }

  /** Resolves when none is under way. */
  async over(): Promise<void> {
    await Promise.all(this.running);
  }

  private async inject(fault: Fault): Promise<void> {
    const from = this.now();
    const victim = await acts[fault.kind](this.stage, fault);
    this.injected.push({ fault, from: victim === undefined ? null : from, to: this.now(), victim: victim ?? '' });
    fs.appendFileSync(path.join(this.stage.folder, 'faults.log'), `${from}–${this.now()} ms  ${fault.kind}: ${victim ?? 'nobody there'}\n`);
  }
}

const isUp = (slot: Slot) => slot.ready && slot.ending === 'no';
const nameOf = (slot: Slot) => `${slot.name} ${slot.version}`;

const isThawed = (slot: Slot) => isUp(slot) && !slot.frozen;

const kill: Act = async ({ fleet }, fault) => {
  const slot = fleet.victim(fault.slot, isUp);
  if (!slot) return undefined;
  fleet.kill(slot, fault.forMs);
  return nameOf(slot);
};

const ask: Act = async ({ fleet }, fault) => {
  const slot = fleet.victim(fault.slot, isThawed);
  if (!slot) return undefined;
  const victim = nameOf(slot);
  await fleet.ask(slot, fault.forMs);
  return victim;
};

const skew: Act = async ({ fleet }, { slot: name, forMs, skewSeconds }) => {
  const slot = fleet.victim(name, isThawed);
  if (!slot) return undefined;
  await fleet.ask(slot, forMs, skewSeconds);
  return `${slot.name} by ${skewSeconds} s`;
};

const freeze: Act = async ({ fleet }, { slot: name, forMs }) => {
  const slot = fleet.victim(name, isThawed);
  if (!slot) return undefined;
  const frozen = slot.process!;
  slot.frozen = true;
  frozen.signal('SIGSTOP');
  await pause(forMs);
  frozen.signal('SIGCONT');
  if (slot.process === frozen) slot.frozen = false;
  return `${nameOf(slot)} for ${forMs} ms`;
};

/** The pool's backends are called by the pooler, or as their client if it passes the name on. */
const POOL = '^(pooler backend|leaseboard (worker|web) [^/]*)$';

const ALL = '^(pooler backend|leaseboard .*)$';

/** One of this role, or whoever is there. */
const terminate: Act = async ({ admin }, { backend }) => {
  const pattern = { pool: POOL, all: ALL }[backend as string] ?? `^leaseboard ${backend} `;
  const { rows } = await admin.query<{ name: string }>(
    `select application_name as name, pg_terminate_backend(pid) from (select pid, application_name from pg_stat_activity
      where application_name ~ $2 and datname = current_database() order by application_name ~ $1 desc, random() limit $3) v`,
    [pattern, ALL, backend === 'all' ? 100 : 1]).catch(() => ({ rows: [] }));
  return rows.length > 0 ? rows.map(({ name }) => name).join(', ') : undefined;
};

let restarting = false;
function restartPostgres(how: 'fast shutdown' | 'immediate shutdown'): Act {
  return async ({ postgres, fleet }, { forMs }) => {
    if (restarting) return undefined;
    restarting = true;
    const calm = fleet.trouble(fleet.slots);
    try {
      await postgres.end(how);
      await pause(forMs);
      await postgres.start();
    } finally {
      restarting = false;
      calm();
    }
    return `away for ${forMs} ms`;
  };
}

/** One process's connections of this kind, or everybody's. */
function hole(link: 'direct' | 'pooled', connection: 'listener' | 'pump' | 'beats' | undefined): Act {
  return async (stage, { slot: name, forMs }) => {
    const everybody = forMs % 3 === 0;
    const slot = stage.fleet.victim(name, isUp);
    if (!slot) return undefined;
    const victims = everybody ? stage.fleet.slots : [slot];
    const names = victims.map(({ role, version }) => `leaseboard ${role}${connection ? `/${connection}` : ''} ${version}`);
    const wanted = everybody ? (name: string) => (connection ? name.includes(`/${connection} `) : !name.includes('/')) : (name: string) => names.includes(name);
    const calm = stage.fleet.trouble(connection === 'listener' ? [] : victims);
    const close = stage[link].hole(wanted);
    await pause(forMs);
    close();
    calm();
    return `${everybody ? 'everybody' : nameOf(slot)} for ${forMs} ms`;
  };
}

/** More calls for one user than a web process has connections, while somebody holds that user's lock: each of them keeps a connection and waits. */
const fillPool: Act = async ({ admin, fleet, token }, { forMs, at }) => {
  const [address] = fleet.webAddresses;
  const client = await admin.connect().catch(() => undefined);
  if (!address || !client) return void client?.release(true);
  const calm = fleet.trouble(fleet.slots); // the pooler's backends are used up as well
  try {
    const user = `pool-filler-${at}`;
    await client.query('select pg_advisory_lock(hashtextextended($1, 1))', [user]);
    const calls = Array.from({ length: Number(SETTINGS.DATABASE_POOL_MAX) + 3 }, (_, n) => fetch(`${address}/api/analysis-jobs`, {
      method: 'POST', signal: AbortSignal.timeout(forMs + 10_000), headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: user, sessionId: `s-${n}`, thesisDocumentId: '00000000-0000-7000-8000-000000000000' }),
    }).catch(() => undefined));
    await pause(forMs);
    client.release(true); // the lock goes with its session
    await Promise.all(calls);
  } catch {
    client.release(true);
  } finally {
    calm();
  }
  return `${address} for ${forMs} ms`;
};

const takeSlots: Act = async ({ postgres, fleet }, { forMs }) => {
  const calm = fleet.trouble(fleet.slots);
  const taken: pg.Client[] = [];
  try {
    for (let n = 0; n < MAX_CONNECTIONS; n++) {
      const client = new pg.Client({ connectionString: postgres.url, application_name: 'chaos slot', connectionTimeoutMillis: 2_000 });
      client.on('error', () => {});
      if (!await client.connect().then(() => true, () => false)) break;
      taken.push(client);
    }
    await pause(forMs);
  } finally {
    await Promise.all(taken.map((client) => client.end().catch(() => {})));
    calm();
  }
  return taken.length > 0 ? `${taken.length} taken for ${forMs} ms` : undefined;
};

const restartPooler: Act = async ({ pooler }) => {
  await pooler.restart();
  return 'the pooler';
};

const loseAnswer: Act = async ({ stub }) => {
  stub.behave({ loseAnswers: 1 });
  return 'the next order';
};

const acts: Record<Kind, Act> = {
  'SIGKILL of a worker': kill,
  'SIGKILL of web': kill,
  'SIGTERM of a worker, next version': ask,
  'SIGTERM of web, next version': ask,
  'SIGSTOP of a worker': freeze,
  'SIGSTOP of web': freeze,
  'wrong clock of a worker': skew,
  'backend terminated': terminate,
  'Postgres restarted, fast': restartPostgres('fast shutdown'),
  'Postgres restarted, immediate': restartPostgres('immediate shutdown'),
  'listener in a black hole': hole('direct', 'listener'),
  'pump in a black hole': hole('direct', 'pump'),
  'beats in a black hole': hole('direct', 'beats'),
  'pool in a black hole': hole('pooled', undefined),
  'pool full': fillPool,
  'no connection slot left': takeSlots,
  'pooler restarted': restartPooler,
  'answer of the orchestrator lost': loseAnswer,
};
