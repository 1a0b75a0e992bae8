/**
 * Values that can be made again at any time from what is persisted. Promises: one build at a time for a key and version, however many ask;
 * nothing older than its TTL or of another version is answered; the sum of weights stays bounded (the longest unused go first); after
 * `clear` nothing is kept, while whoever waits for a build still gets it. Losing everything costs time, never an answer.
 */
export interface CacheOptions<T> {
  ttlSeconds: number;
  /** Of all kept values together, in the unit of `weigh`. A heavier one is answered and not kept. */
  maxWeight: number;
  weigh: (value: T) => number;
}

interface Entry<T> {
  version: string;
  value: Promise<T>;
  weight: number;
  expiry?: NodeJS.Timeout;
}

/** Longest time that setTimeout takes, in milliseconds. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class RebuildableCache<T> {
  /** In order of last use. */
  private readonly entries = new Map<string, Entry<T>>();

  constructor(private readonly options: CacheOptions<T>) {}

  /** @throws what `build` throws; the next caller then builds again. */
  of(key: string, version: string, build: () => Promise<T>): Promise<T> {
    const entry = this.entries.get(key);
    if (entry?.version !== version) return this.rebuild(key, version, build);
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Values kept or being made. */
  get size(): number {
    return this.entries.size;
  }

  clear(): void {
    for (const [key, entry] of this.entries) this.drop(key, entry);
  }

  private rebuild(key: string, version: string, build: () => Promise<T>): Promise<T> {
    const before = this.entries.get(key);
    if (before) this.drop(key, before);
    const entry: Entry<T> = { version, value: build(), weight: 0 };
    this.entries.set(key, entry);
    entry.value.then((value) => this.keep(key, entry, value), () => this.drop(key, entry));
    return entry.value;
  }

  /** Unless it was dropped while it was made. The timer keeps no process alive. */
  private keep(key: string, entry: Entry<T>, value: T): void {
    if (this.entries.get(key) !== entry) return;
    entry.weight = this.options.weigh(value);
    if (entry.weight > this.options.maxWeight) return this.drop(key, entry);
    entry.expiry = setTimeout(() => this.drop(key, entry), Math.min(this.options.ttlSeconds * 1000, LONGEST_TIMEOUT_MS)).unref();
    let sum = 0;
    for (const { weight } of this.entries.values()) sum += weight;
    for (const [oldest, other] of this.entries) {
      if (sum <= this.options.maxWeight) return;
      sum -= other.weight;
      if (other.weight > 0) this.drop(oldest, other);
    }
  }

  private drop(key: string, entry: Entry<T>): void {
    clearTimeout(entry.expiry);
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }
}
