/** Waiting lines inside one process. They bound memory and connections; correctness comes from the database's locks alone. */

/** At most `capacity` (bytes, say) in use at once, first come first served. Something larger than the capacity runs alone. */
export class Budget {
  private used = 0;
  private readonly waiting: { weight: number; start: () => void }[] = [];

  constructor(private readonly capacity: number) {}

  async run<T>(weight: number, work: () => Promise<T>): Promise<T> {
    const share = Math.min(weight, this.capacity);
    await this.enter(share);
    try {
      return await work();
    } finally {
      this.used -= share;
      this.admit();
    }
  }

  private enter(weight: number): Promise<void> {
    return new Promise((start) => {
      this.waiting.push({ weight, start });
      this.admit();
    });
  }

  private admit(): void {
    for (let next = this.waiting[0]; next && this.used + next.weight <= this.capacity; next = this.waiting[0]) {
      this.waiting.shift();
      this.used += next.weight;
      next.start();
    }
  }
}

/** One at a time for each key, first come first served; different keys do not wait for each other. */
export class Lines {
  private readonly tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key);
    const mine = (before ?? Promise.resolve()).then(work);
    const settled = mine.catch(() => undefined);
    this.tails.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.tails.get(key) === settled) this.tails.delete(key);
    }
  }
}
