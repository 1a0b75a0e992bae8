/** How many rows of each queue a process asks for: what its slots have room for, and what may be claimed ahead (ahead.ts). Only a wish; the claim statement decides. */
import type { PumpResult } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import { Pace } from './ahead.js';
import type { Breaker } from './breaker.js';
import { laneOf, type Slots } from './lanes.js';

export interface ClaimsOptions {
  queues: readonly QueueDefinition[];
  slots: Slots;
  breaker: Breaker;
  /** Rows of this queue in hand. */
  holds(queue: string): boolean;
  /** The queue may have rows that were not asked for yet. */
  mayHave(queue: string): boolean;
  /** Nothing is claimed now: the process drains, or an operator has stopped it. */
  idles(): boolean;
}

export class Claims {
  private readonly paces: ReadonlyMap<string, Pace>;

  constructor(private readonly options: ClaimsOptions) {
    this.paces = new Map(options.queues.map((queue) => [queue.table, new Pace(queue)]));
  }

  /** Of a queue in the registry of this process. */
  pace(queue: string): Pace {
    return this.paces.get(queue)!;
  }

  answered(queue: QueueDefinition, answer: Pick<PumpResult, 'claimed' | 'claimLimit'>, asked: number): void {
    this.pace(queue.table).claimed(asked, answer.claimLimit, answer.claimed.length);
  }

  /** `besideLost`: where a row that has lost a lease waits among them (pump.ts). Both may be negative. */
  wanted(queue: QueueDefinition): { claim: number; besideLost: number } {
    const others = this.othersWaiting(queue);
    // One slot stays free for a queue that stands before this one and could not be asked yet: else a backlog here would keep it waiting for ever.
    const room = this.options.slots.free(queue.table) - Number(others.before);
    const ahead = others.before || others.after ? 0 : this.pace(queue.table).ahead();
    return { claim: Math.min(room + ahead, this.allowed(queue)), besideLost: room };
  }

  /** How many claims may be made now, whatever is free. */
  private allowed({ table }: QueueDefinition): number {
    if (this.options.idles()) return 0;
    const allowance = this.options.breaker.allowance(table);
    const onTrial = allowance === 1 && this.options.holds(table);
    return onTrial ? 0 : allowance;
  }

  /** Whether other queues of the lane, before and after this one, may have rows for its slots. */
  private othersWaiting(queue: QueueDefinition): { before: boolean; after: boolean } {
    const { queues } = laneOf(this.options.slots.lanes, queue.table);
    const place = queues.indexOf(queue);
    const waits = (other: QueueDefinition) => this.options.mayHave(other.table) && this.allowed(other) > 0;
    return { before: queues.slice(0, place).some(waits), after: queues.slice(place + 1).some(waits) };
  }
}
