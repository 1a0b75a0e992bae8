import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { build, staleBuilds } from '../../server/main/build.mjs';
import { checkNode, linkCommand, needsInstall } from '../../server/main/install.mjs';

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-prepare-'));
  write('package-lock.json', '{}');
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

function write(name: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
}

describe('the preparation', () => {
  it.each(['18.20.0', '20.18.9', '21.7.0', '22.11.0'])('refuses Node %s with what to do', version => {
    expect(() => checkNode(version)).toThrow(`this is Node ${version}. Install one from https://nodejs.org`);
  });

  it.each(['20.19.0', '20.20.2', '22.12.0', '24.1.0'])('takes Node %s', version => {
    expect(() => checkNode(version)).not.toThrow();
  });

  it('installs when node_modules is missing or older than the lock, not after somebody ran npm ci', () => {
    expect(needsInstall(root)).toBe(true);
    write('node_modules/.package-lock.json', '{}');
    expect(needsInstall(root)).toBe(false);
    const past = new Date('2001-01-01');
    fs.utimesSync(path.join(root, 'node_modules/.package-lock.json'), past, past);
    expect(needsInstall(root)).toBe(true);
  });

  it('builds once for each state of the sources, by content and not by time', async () => {
    write('server/one.ts', 'export const one: number = 1;\n');
    expect(staleBuilds(root)).toEqual(['server']);
    await build(root, 'server');
    expect(staleBuilds(root)).toEqual([]);
    fs.utimesSync(path.join(root, 'server/one.ts'), new Date(), new Date());
    expect(staleBuilds(root)).toEqual([]);
    write('server/one.ts', 'export const one: number = 2;\n');
    expect(staleBuilds(root)).toEqual(['server']);
  });

  it('builds again after a build that failed, and forgets what has no source any more', async () => {
    write('server/a.ts', 'export {};\n');
    write('server/b.ts', 'export {};\n');
    await build(root, 'server');
    fs.rmSync(path.join(root, 'server/b.ts'));
    write('server/a.ts', 'export {;\n');
    await expect(build(root, 'server')).rejects.toThrow('a.ts');
    write('server/a.ts', 'export {};\n');
    expect(staleBuilds(root)).toEqual(['server']);
    await build(root, 'server');
    expect(fs.readdirSync(path.join(root, 'build/server')).sort()).toEqual(['a.js', 'a.js.map']);
  });

  it('lets npx find the command', () => {
    linkCommand(root);
    linkCommand(root);
    expect(fs.readlinkSync(path.join(root, 'node_modules/.bin/leaseboard'))).toBe('../../server/main/leaseboard.mjs');
  });
});
