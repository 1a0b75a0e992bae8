/**
 * Where uploads wait on disk until they are complete: one folder a process, one below it a request. Bounded in all. Crash behaviour: a
 * killed process leaves its folder behind; the next start on this host removes it (its pid is dead, or it is older than a day).
 */
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Problem } from './problem.js';

const DAY_MS = 24 * 3600 * 1000;

export interface Spool {
  /** A new empty folder (0700) for one request. */
  room(): Promise<Room>;
  /** Removes everything of this process. */
  close(): Promise<void>;
}

/** One request's share of the spool. */
export interface Room {
  folder: string;
  /** Takes `bytes` of the process's allowance; throws a 503 Problem when it is used up. */
  take(bytes: number): void;
  /** Removes the folder and gives back what was taken; safe to repeat. */
  clear(): Promise<void>;
}

/** Opens this process's spool below `parent` and clears what dead processes of this host left there. */
export async function openSpool(options: { parent?: string; maxBytes: number }): Promise<Spool> {
  const parent = options.parent ?? path.join(os.tmpdir(), `leaseboard-uploads-${process.getuid?.() ?? 0}`);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await clearLeftovers(parent);
  const home = await mkdtemp(path.join(parent, `${hostTag()}-${process.pid}-`));
  const held = { bytes: 0 };
  return {
    room: async () => openRoom(await mkdtemp(path.join(home, 'upload-')), held, options.maxBytes),
    close: () => rm(home, { recursive: true, force: true }),
  };
}

function openRoom(folder: string, held: { bytes: number }, maxBytes: number): Room {
  let taken = 0;
  return {
    folder,
    take(bytes) {
      if (held.bytes + bytes > maxBytes) throw spoolFull();
      held.bytes += bytes;
      taken += bytes;
    },
    async clear() {
      await rm(folder, { recursive: true, force: true });
      held.bytes -= taken;
      taken = 0;
    },
  };
}

/** The answer when no more uploads fit on this process's disk allowance right now. */
export function spoolFull(cause?: unknown): Problem {
  return new Problem(503, 'uploads_busy', 'Too many uploads are being received right now to take this one. Nothing was stored; send it again in a few seconds.', { headers: { 'Retry-After': '5' }, cause });
}

async function clearLeftovers(parent: string): Promise<void> {
  const names = await readdir(parent);
  await Promise.all(names.map(async (name) => {
    const folder = path.join(parent, name);
    if (await isLeftover(name, folder)) await rm(folder, { recursive: true, force: true });
  }));
}

async function isLeftover(name: string, folder: string): Promise<boolean> {
  const pid = new RegExp(`^${hostTag()}-(\\d+)-`).exec(name)?.[1];
  if (pid && !isAlive(Number(pid))) return true;
  const made = await stat(folder).catch(() => null);
  if (!made) return false;
  // In a container the next process often has the same pid: what carries ours and is older than we are is not ours.
  const limitMs = Number(pid) === process.pid ? process.uptime() * 1000 : DAY_MS;
  return Date.now() - made.mtimeMs > limitMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function hostTag(): string {
  return os.hostname().replace(/[^\w]/g, '_');
}
