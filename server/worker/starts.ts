/**
 * Gives leases to slots. What was claimed for free slots starts at once; what was claimed ahead (ahead.ts) waits here for a slot, and goes back
 * uncharged where the process drains, the queue rests, or the slots have become slow. Keeps nothing that a crash could lose.
 */
import type { GiveBackVerb } from '../lease/ending.js';
import { PATIENCE_MS, Unstarted } from './ahead.js';
import type { Held } from './held.js';
import { laneOf, type Lane, type Slots } from './lanes.js';

/** A turn of the event loop that starts handlers (ms): short beside a statement of the pump, which is heard only after it. */
const TURN_MS = 2;

export interface StartsOptions {
  slots: Slots;
  run(held: Held): void;
  giveBack(held: Held, verb: GiveBackVerb): void;
  /** Still this process's, and nothing ends it yet. */
  isHeld(held: Held): boolean;
  rests(queue: string): boolean;
  draining(): boolean;
}

export class Starts {
  private readonly unstarted: ReadonlyMap<Lane, Unstarted>;
  private soon: NodeJS.Immediate | undefined;
  private patience: NodeJS.Timeout | undefined;
  /** performance.now() until which handlers follow each other within one turn of the event loop. */
  private turnEnds = 0;

  constructor(private readonly options: StartsOptions) {
    this.unstarted = new Map(options.slots.lanes.map((lane) => [lane, new Unstarted()]));
  }

  /** Leases of this queue that wait for a slot. */
  count(queue: string): number {
    return this.unstarted.get(laneOf(this.options.slots.lanes, queue))!.count(queue);
  }

  add(held: Held): void {
    const { slots, run, giveBack, draining } = this.options;
    const lane = laneOf(slots.lanes, held.lease.queue);
    const unstarted = this.unstarted.get(lane)!;
    if (unstarted.size === 0 && slots.idle(lane) > 0) return run(held);
    if (draining()) return giveBack(held, 'drain');
    unstarted.push(held);
    this.startSoon();
  }

  /** A slot of this queue's lane is free. Handlers that never wait for anything would go on and on in one turn: it has an end. */
  next(queue: string): void {
    const lane = laneOf(this.options.slots.lanes, queue);
    if (this.unstarted.get(lane)!.size === 0) return;
    if (performance.now() < this.turnEnds) this.start(lane);
    else this.startSoon();
  }

  /** Gives back what waits here. */
  giveBack(verb: GiveBackVerb, which: (held: Held, since: number) => boolean = () => true): void {
    for (const unstarted of this.unstarted.values()) {
      for (const held of unstarted.take(which)) if (this.options.isHeld(held)) this.options.giveBack(held, verb);
    }
  }

  /** In turns of the event loop, so that answers and hints are heard in between. */
  private startSoon(): void {
    this.soon ??= setImmediate(() => {
      this.soon = undefined;
      this.turnEnds = performance.now() + TURN_MS;
      for (const lane of this.options.slots.lanes) this.start(lane);
      this.watch();
    });
  }

  private start(lane: Lane): void {
    const { slots, isHeld, rests, run, giveBack } = this.options;
    const unstarted = this.unstarted.get(lane)!;
    while (unstarted.size > 0 && slots.idle(lane) > 0) {
      const held = unstarted.shift()!;
      if (!isHeld(held)) continue;
      if (rests(held.lease.queue)) giveBack(held, 'unstarted');
      else run(held);
    }
  }

  private watch(): void {
    if (this.patience || [...this.unstarted.values()].every((unstarted) => unstarted.size === 0)) return;
    this.patience = setTimeout(() => {
      this.patience = undefined;
      this.giveBack('unstarted', (_, since) => since < performance.now() - PATIENCE_MS);
      this.watch();
    }, PATIENCE_MS).unref();
  }
}
