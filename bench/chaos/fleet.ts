/**
 * Two web and three worker processes, and who starts them again when they end. A process that ends by itself, or that does not end when it is
 * asked to, is an offence of its own.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parsersOf, startProcess, type StageProcess } from '../stage/process.js';
import type { Skewing } from './clock.js';
import { WEBS, WORKERS, type SlotName } from './schedule.js';

/** Until a started process takes work or calls, on a busy machine with a database that is away (ms). */
const BOOT_MS = 180_000;
/** Before a process whose start failed is started again (ms). */
const AGAIN_MS = 500;
/** DRAIN_SECONDS, and five seconds in which a process closes what it opened; then what a busy machine needs (ms). */
const END_MS = 2_000 + 5_000 + 5_000;

export interface Slot {
  name: SlotName;
  role: 'web' | 'worker';
  version: string;
  process: StageProcess | undefined;
  /** It takes work or calls. */
  ready: boolean;
  frozen: boolean;
  ending: 'no' | 'asked' | 'killed';
  /** How long its successor is waited for (ms), and how wrong its clock is. */
  restartAfterMs: number;
  skewSeconds: number;
  /** Of a worker: its identity in the registry, which is the worker_id of the rows it holds. */
  identity: string;
  url: string;
}

export interface FleetOptions {
  folder: string;
  env: Record<string, string>;
  skewing: Skewing;
}

export class Fleet {
  readonly slots: Slot[] = [...WEBS, ...WORKERS].map((name) => ({
    name, role: name.startsWith('web') ? 'web' : 'worker', version: '', process: undefined, ready: false, frozen: false, ending: 'no', restartAfterMs: 0, skewSeconds: 0, identity: '', url: '',
  }));
  readonly offences: string[] = [];
  /** Parsers of processes that were ended: each must end by itself. */
  readonly parsers: number[] = [];
  starts = 0;
  /** Starts that failed because the database was away. */
  failedStarts = 0;
  /** Processes that were asked to end and gave up something: their budget ran out. */
  hurriedEnds = 0;
  readonly temporary: string;
  private stopping = false;
  private readonly troubled = new Map<SlotName, number>();
  private supervisors: Promise<void>[] = [];

  constructor(private readonly options: FleetOptions) {
    this.temporary = path.join(options.folder, 'tmp');
    fs.mkdirSync(this.temporary);
  }

  /** Resolves when all are ready. */
  async start(): Promise<void> {
    this.supervisors = this.slots.map((slot) => this.supervise(slot));
    await this.allReady();
  }

  /** Gives up after as long as one start may take. */
  async allReady(): Promise<void> {
    const until = performance.now() + BOOT_MS;
    while (!this.slots.every((slot) => slot.ready && slot.ending === 'no') && performance.now() < until) await pause(50);
  }

  /** This one, or the next of its role that is as wanted: a process that is just being started again is no victim. */
  victim(name: SlotName, wanted: (slot: Slot) => boolean): Slot | undefined {
    const first = this.slots.find((slot) => slot.name === name)!;
    const all = this.slots.filter((slot) => slot.role === first.role);
    return [...all.slice(all.indexOf(first)), ...all].find(wanted);
  }

  /** At least one web process, two workers. Below that there is little left to break, only starts to wait for. */
  get isStanding(): boolean {
    const up = (role: Slot['role']) => this.slots.filter((slot) => slot.role === role && slot.ready && slot.ending === 'no').length;
    return up('web') >= 1 && up('worker') >= 2;
  }

  get webAddresses(): string[] {
    return this.slots.filter((slot) => slot.role === 'web' && slot.ready && slot.ending === 'no').map((slot) => slot.url);
  }

  /** Nothing that we do keeps this process from working. */
  isHealthy(slot: Slot): boolean {
    return slot.ready && !slot.frozen && slot.ending === 'no' && (this.troubled.get(slot.name) ?? 0) === 0;
  }

  /** Until the returned function is called, these are not expected to work. */
  trouble(slots: readonly Slot[]): () => void {
    const add = (by: number) => slots.forEach(({ name }) => this.troubled.set(name, (this.troubled.get(name) ?? 0) + by));
    add(1);
    return () => add(-1);
  }

  kill(slot: Slot, restartAfterMs: number): void {
    Object.assign(slot, { ending: 'killed', restartAfterMs });
    this.parsers.push(...parsersOf(slot.process!.pid));
    slot.process!.signal('SIGKILL');
  }

  /** SIGTERM. @returns when it has ended. */
  async ask(slot: Slot, restartAfterMs: number, skewSeconds = 0): Promise<void> {
    Object.assign(slot, { ending: 'asked', restartAfterMs, skewSeconds });
    const asked = slot.process!;
    this.parsers.push(...parsersOf(asked.pid));
    asked.signal('SIGTERM');
    const end = await Promise.race([asked.ended, pause(END_MS)]);
    if (!end) {
      this.offences.push(`${slot.name} ${slot.version} did not end within ${END_MS / 1000} s of SIGTERM`);
      asked.signal('SIGKILL');
    } else if (end.code === 1) this.hurriedEnds += 1;
    else if (end.code !== 0 && slot.ending === 'asked') this.offences.push(`${slot.name} ${slot.version} ended with ${end.code ?? end.signal} after SIGTERM`);
  }

  /** All at once, each must end cleanly; nobody is started again. */
  async stop(): Promise<void> {
    this.stopping = true;
    const running = this.slots.filter((slot) => slot.process?.running());
    for (const slot of running.filter(({ ready }) => !ready)) this.kill(slot, 0);
    await Promise.all(running.filter(({ ready }) => ready).map((slot) => this.ask(slot, 0)));
    await Promise.all(this.supervisors);
  }

  async killAll(): Promise<void> {
    this.stopping = true;
    for (const slot of this.slots) if (slot.process?.running()) this.kill(slot, 0);
    await Promise.all(this.supervisors);
  }

  private async supervise(slot: Slot): Promise<void> {
    while (!this.stopping) {
      const started = this.startOne(slot);
      await this.untilReady(slot, started);
      const end = await started.ended;
      if (slot.ready && slot.ending === 'no') this.offences.push(`${slot.name} ${slot.version} ended by itself (${end.code ?? end.signal}): ${started.said().trim().split('\n').at(-1)}`);
      Object.assign(slot, { ready: false, frozen: false });
      await pause(slot.restartAfterMs);
    }
  }

  private startOne(slot: Slot): StageProcess {
    this.starts += 1;
    const skewed = slot.skewSeconds !== 0;
    Object.assign(slot, { version: `c${this.starts}`, ready: false, frozen: false, ending: 'no', identity: '', restartAfterMs: AGAIN_MS });
    slot.process = startProcess({
      file: `build/server/main/${slot.role}.js`, logFile: path.join(this.options.folder, `${slot.name}-${slot.version}.log`),
      env: { ...this.options.env, APP_VERSION: slot.version, WORKER_ID: slot.name, TMPDIR: this.temporary, ...(skewed ? this.options.skewing.environment(slot.skewSeconds) : {}) },
      nodeArguments: skewed ? this.options.skewing.nodeArguments : [],
    });
    slot.skewSeconds = 0;
    return slot.process;
  }

  private async untilReady(slot: Slot, started: StageProcess): Promise<void> {
    const pattern = slot.role === 'web' ? /"event":"listening".*"port":(\d+)/ : /"event":"worker_started","worker":"([^"]+)"/;
    try {
      const [, word] = await started.says(pattern, BOOT_MS);
      Object.assign(slot, slot.role === 'web' ? { url: `http://127.0.0.1:${word}`, ready: true } : { identity: word, ready: true });
    } catch {
      this.failedStarts += 1;
      if (started.running()) started.signal('SIGKILL');
    }
  }
}
