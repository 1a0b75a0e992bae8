import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireFileLock } from '../server/file-lock.js';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-lock-'));
  lock = path.join(folder, 'a.lock');
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

async function deadPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'close');
  return child.pid!;
}

describe('a file lock', () => {
  it('has one holder at a time, and waits for it', async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(Array.from({ length: 8 }, async () => {
      const release = await acquireFileLock(lock, { timeoutMs: 20_000 });
      most = Math.max(most, ++inside);
      await new Promise(resolve => { setImmediate(resolve); });
      inside -= 1;
      release();
    }));
    expect(most).toBe(1);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('of a holder that died is taken over by exactly one of those who wait', async () => {
    for (let round = 0; round < 10; round++) {
      fs.writeFileSync(lock, JSON.stringify({ pid: await deadPid(), started: '1', nonce: `dead-${round}` }));
      let inside = 0;
      await Promise.all(Array.from({ length: 5 }, async () => {
        const release = await acquireFileLock(lock, { timeoutMs: 20_000 });
        expect(++inside).toBe(1);
        await new Promise(resolve => { setImmediate(resolve); });
        inside -= 1;
        release();
      }));
    }
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('is stale when its pid lives but started at another time: pids are reused', async () => {
    fs.writeFileSync(lock, JSON.stringify({ pid: process.pid, started: 'long ago', nonce: 'x' }));
    (await acquireFileLock(lock, { timeoutMs: 2000 }))();
  });

  it('of a crash in the middle of its making is no lock', async () => {
    fs.writeFileSync(lock, '{"pid": 1');
    (await acquireFileLock(lock, { timeoutMs: 2000 }))();
  });

  it('that does not come free is an error that names the holder', async () => {
    const release = await acquireFileLock(lock, { timeoutMs: 1000 });
    const waited: number[] = [];
    await expect(acquireFileLock(lock, { timeoutMs: 200, onWait: pid => waited.push(pid) })).rejects.toThrow(`held by process ${process.pid}`);
    expect(waited).toEqual([process.pid]);
    release();
  });
});
