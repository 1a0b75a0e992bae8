import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSpool } from '../../server/api/spool.js';

let parent: string;
beforeEach(async () => { parent = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-spool-')); });
afterEach(() => rm(parent, { recursive: true, force: true }));

const host = os.hostname().replace(/\W/g, '_');

async function leftover(name: string, hoursOld = 0): Promise<void> {
  await mkdir(path.join(parent, name));
  await writeFile(path.join(parent, name, 'file-0'), 'bytes');
  const then = new Date(Date.now() - hoursOld * 3_600_000);
  await utimes(path.join(parent, name), then, then);
}

test('what a killed process left behind is gone after the next start; what others use is not', async () => {
  const dead = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))']).stdout.toString();
  await leftover(`${host}-${dead}-abc`);
  await leftover(`${host}-${process.pid}-same-pid-in-a-container`, 200);
  await leftover('elsewhere-1-old', 25);
  await leftover('elsewhere-1-new', 23);
  await leftover(`${host}-${process.ppid}-alive`);
  const spool = await openSpool({ parent, maxBytes: 1000 });
  const left = (await readdir(parent)).filter((name) => !name.startsWith(`${host}-${process.pid}-`));
  expect(left.sort()).toEqual(['elsewhere-1-new', `${host}-${process.ppid}-alive`].sort());
  await spool.close();
});

test('a room is for its owner only, and is gone with what is in it', async () => {
  const spool = await openSpool({ parent, maxBytes: 1000 });
  const room = await spool.room();
  await writeFile(path.join(room.folder, 'file-0'), 'bytes');
  expect((await stat(room.folder)).mode & 0o777).toBe(0o700);
  await room.clear();
  await room.clear();
  await expect(stat(room.folder)).rejects.toThrow('ENOENT');
  await spool.close();
  expect(await readdir(parent)).toEqual([]);
});

test('all rooms together take no more than the allowance; clearing one gives its share back', async () => {
  const spool = await openSpool({ parent, maxBytes: 1000 });
  const [first, second] = [await spool.room(), await spool.room()];
  first.take(700);
  second.take(300);
  expect(() => second.take(1)).toThrow(expect.objectContaining({ status: 503, code: 'uploads_busy' }));
  await first.clear();
  second.take(700);
  await spool.close();
});
