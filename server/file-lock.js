// Plain JavaScript: server/main/prepare.mjs needs it before anything is built.
import fs from 'node:fs';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** How often a waiting process looks again. */
const LOOK_AGAIN_MS = 50;
/** A takeover that was itself cut off by a crash is forgotten after this. */
const TAKEOVER_FORGOTTEN_MS = 5000;

/**
 * A lock between processes of one machine: a file that names its holder by pid and start time (pids are reused).
 * A holder that died, however it died, is noticed and its lock taken over by exactly one of those who wait.
 * @param {string} path
 * @param {{ timeoutMs: number, onWait?: (holderPid: number) => void }} options
 * @returns {Promise<() => void>} gives the lock back; safe to call twice
 */
export async function acquireFileLock(path, options) {
  const mine = { pid: process.pid, started: startOf(process.pid), nonce: randomUUID() };
  const deadline = performance.now() + options.timeoutMs;
  let told = false;
  for (;;) {
    if (createWith(path, mine)) return () => giveBack(path, mine.nonce);
    const holder = read(path);
    if (performance.now() > deadline) throw new Error(`${path} has been held by process ${holder?.pid ?? 'unknown'} for longer than ${options.timeoutMs / 1000} s. End that process, then try again.`);
    if (holder && isDead(holder)) takeAway(path, holder);
    else if (holder && !told) {
      told = true;
      options.onWait?.(holder.pid);
    }
    await pause(LOOK_AGAIN_MS);
  }
}

/** Whole or not at all: the content is written first, then linked to its name. */
function createWith(path, content) {
  const draft = `${path}.${content.nonce}`;
  fs.writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  try {
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function read(path) {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    return { pid: 0, nonce: 'unreadable' };
  }
}

function isDead(holder) {
  return !isAlive(holder.pid) || (holder.started !== undefined && startOf(holder.pid) !== holder.started);
}

/**
 * Removes a dead holder's file, and only that: whoever links the name that the dead nonce gives is alone, and looks once more
 * whether the lock is still the dead one before removing it.
 */
function takeAway(path, dead) {
  const grave = `${path}.dead-${dead.nonce}`;
  try {
    fs.linkSync(path, grave);
  } catch (error) {
    if (error.code === 'EEXIST') forgetOldTakeover(grave);
    return;
  }
  if (read(grave)?.nonce === dead.nonce) fs.rmSync(path, { force: true });
  fs.rmSync(grave, { force: true });
}

function forgetOldTakeover(grave) {
  const changed = fs.statSync(grave, { throwIfNoEntry: false })?.ctimeMs ?? Infinity;
  if (Date.now() - changed > TAKEOVER_FORGOTTEN_MS) fs.rmSync(grave, { force: true });
}

function giveBack(path, nonce) {
  if (read(path)?.nonce === nonce) fs.rmSync(path, { force: true });
}

/** @param {number} pid */
export function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * When a process started, in the system's own words; undefined when it cannot be known.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function startOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    const answer = process.platform === 'linux' ? undefined : spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return answer?.stdout?.trim() || undefined;
  }
}
