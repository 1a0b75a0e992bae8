/** The operations as fast-check makes and shrinks them. Each runs on both sides, and compares the answer, every row and the invariants. */
import fc from 'fast-check';
import type pg from 'pg';
import { expect } from 'vitest';
import { expectSound } from '../lease/world.js';
import * as reference from './lease-model.js';
import { ITEMS, JOBS, newest, QUEUES, WORKERS, type EndVerb, type Model, type QueueName, type WorkerName } from './lease-model.js';
import { expectedRows, type Played } from './lease-played.js';

export interface Real { pool: pg.Pool; played: Played }
type Command = fc.AsyncCommand<Model, Real>;

/** `expected` is reached before the database is asked: a belief of the moment must not be one that the reference has already changed. */
class Step implements Command {
  constructor(private readonly name: string, private readonly may: (model: Readonly<Model>) => boolean, private readonly both: (model: Model, played: Played) => [unknown, Promise<unknown>]) {}

  check(model: Readonly<Model>): boolean {
    return this.may(model);
  }

  async run(model: Model, { pool, played }: Real): Promise<void> {
    model.now += 0.001;
    const [expected, asked] = this.both(model, played);
    const differences = [...differing('the answer', expected, await asked), ...(await played.rows()).flatMap((row, at) => differing(nameOf(at), expectedRows(model)[at], row))];
    expect(differences, differences.join('\n')).toEqual([]);
    await expectSound(pool);
  }

  toString(): string {
    return this.name;
  }
}

/** Only what differs, so that it can be read. */
function differing(what: string, expected: unknown, got: unknown): string[] {
  const fields = (value: unknown): Record<string, unknown> => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value as Record<string, unknown> : { '': value ?? null });
  const [wanted, found] = [fields(expected), fields(got)];
  return Object.keys(wanted).filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(found[name]))
    .map((name) => `${what}${name && ` (${name})`}: expected ${JSON.stringify(wanted[name])}, got ${JSON.stringify(found[name])}`);
}

const always = () => true;
const worker = fc.constantFrom(...WORKERS);
const queue = fc.constantFrom(...QUEUES);
const verb = fc.constantFrom<EndVerb>('succeed', 'fail', 'retry', 'outage', 'drain', 'unstarted');
const row = fc.constantFrom(...ITEMS, ...JOBS);
const nameOf = (at: number) => (reference.queueOf(at) === 'items' ? `item ${at}` : `job ${at}`);

function acquires(who: WorkerName, of: QueueName, limit: number, heard: boolean): Command {
  return new Step(`${who} acquires ${limit} of the ${of}${heard ? '' : ' and never hears of it'}`, always, (model, played) =>
    [reference.acquire(model, who, of, limit, heard), played.acquire({ ...model.starts }, who, of, limit)]);
}

function beats(who: WorkerName): Command {
  return new Step(`${who} beats`, (model) => model.beliefs[who].length > 0, (model, played) => {
    const beliefs = newest(model.beliefs[who]);
    return [reference.beat(model, who), played.beat(beliefs)];
  });
}

/** Also a belief that is no longer true; `again`: it stays a belief, as when the answer was lost and the end is sent once more. */
function ends(who: WorkerName, nth: number, how: EndVerb, again: boolean): Command {
  return new Step(`${who} ends its lease ${nth} (modulo) by ${how}${again ? ', unheard' : ''}`, (model) => model.beliefs[who].length > 0, (model, played) => {
    const beliefs = model.beliefs[who];
    const belief = beliefs[nth % beliefs.length]!;
    if (!again) beliefs.splice(beliefs.indexOf(belief), 1);
    const list = [{ belief, verb: how }];
    return [reference.end(model, list), played.end({ ...model.starts }, who, list)];
  });
}

function endsAll(who: WorkerName, verbs: readonly EndVerb[]): Command {
  return new Step(`${who} ends all its leases by ${verbs.join(', ')} in turn`, (model) => model.beliefs[who].length > 1, (model, played) => {
    const list = newest(model.beliefs[who]).map((belief, n) => ({ belief, verb: verbs[n % verbs.length]! }));
    model.beliefs[who] = [];
    return [reference.end(model, list), played.end({ ...model.starts }, who, list)];
  });
}

function reconnects(who: WorkerName): Command {
  return new Step(`${who} reconnects and gives back what it does not know`, always, (model, played) => {
    const known = [...model.beliefs[who]];
    return [reference.giveBackUnknown(model, who), played.giveBackUnknown({ ...model.starts }, who, known)];
  });
}

function dies(who: WorkerName): Command {
  return new Step(`${who} is killed and starts anew`, always, (model) => [reference.kill(model, who), Promise.resolve()]);
}

function cancels(at: number): Command {
  return new Step(`${nameOf(at)} is cancelled`, always, (model, played) => {
    const { rows, lost } = reference.cancel(model, at);
    return [{ rows: rows.sort((a, b) => a - b), lost: lost.sort((a, b) => a - b) }, played.cancel(at)];
  });
}

function pauses(of: QueueName, paused: boolean): Command {
  return new Step(`the ${of} are ${paused ? 'paused' : 'resumed'}`, (model) => model.paused[of] !== paused, (model, played) => {
    model.paused[of] = paused;
    return [null, played.setPaused(of, paused)];
  });
}

const minute = new Step('a minute passes', always, (model, played) => [reference.passMinute(model), played.passMinute()]);
const sweeps = new Step('a sweep', always, (model, played) => [reference.sweep(model), played.sweep()]);

/** Weighted so that most rows are still open at the end of a script: leases change hands, and beliefs grow old. */
const arbitraries: { weight: number; arbitrary: fc.Arbitrary<Command> }[] = [
  { weight: 12, arbitrary: fc.tuple(worker, queue, fc.constantFrom(1, 1, 2, 3)).map(([who, of, limit]) => acquires(who, of, limit, true)) },
  { weight: 2, arbitrary: fc.tuple(worker, queue, fc.constantFrom(1, 2)).map(([who, of, limit]) => acquires(who, of, limit, false)) },
  { weight: 3, arbitrary: worker.map(beats) },
  { weight: 7, arbitrary: fc.tuple(worker, fc.nat(3), verb, fc.constantFrom(false, false, false, true)).map(([who, nth, how, again]) => ends(who, nth, how, again)) },
  { weight: 2, arbitrary: fc.tuple(worker, fc.array(verb, { minLength: 1, maxLength: 3 })).map(([who, verbs]) => endsAll(who, verbs)) },
  { weight: 2, arbitrary: worker.map(reconnects) },
  { weight: 1, arbitrary: worker.map(dies) },
  { weight: 5, arbitrary: fc.constant(minute) },
  { weight: 7, arbitrary: fc.constant(sweeps) },
  { weight: 1, arbitrary: row.map(cancels) },
  { weight: 3, arbitrary: fc.tuple(queue, fc.constantFrom(true, false, false)).map(([of, paused]) => pauses(of, paused)) },
];

/** `replayPath`: as a failure printed it. */
export function commands(maxCommands: number, replayPath: string | undefined) {
  return fc.commands([fc.oneof(...arbitraries)], { maxCommands, size: 'max', ...(replayPath ? { replayPath } : {}) });
}

