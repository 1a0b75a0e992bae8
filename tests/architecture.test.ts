import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
let copy: string;
beforeEach(() => { copy = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-architecture-')); });
afterEach(() => fs.rmSync(copy, { recursive: true, force: true }));

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(copy, name)), { recursive: true });
    fs.writeFileSync(path.join(copy, name), text);
  }
}

function run(program: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [path.join(root, 'node_modules', program), ...args], { cwd: copy, env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' } });
    let output = '';
    child.stdout.on('data', (part: Buffer) => { output += part.toString(); });
    child.stderr.on('data', (part: Buffer) => { output += part.toString(); });
    child.on('close', code => resolve({ code, output }));
  });
}

describe('the import rules', () => {
  it('refuse what points to the left, across, in circles, or from the server to the page', async () => {
    for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) fs.copyFileSync(path.join(root, name), path.join(copy, name));
    write({
      'server/log.ts': 'export const log = 1;\n',
      'server/db/fine.ts': "import { log } from '../log.js';\nexport const fine = log;\n",
      'server/lease/fine.ts': "import { fine } from '../db/fine.js';\nexport const lease = fine;\n",
      'server/db/left.ts': "import { lease } from '../lease/fine.js';\nexport const left = lease;\n",
      'server/parse/across.ts': "import { a } from '../citations/a.js';\nexport const across = a;\n",
      'server/citations/a.ts': 'export const a = 1;\n',
      'server/bus/circle-one.ts': "import { two } from './circle-two.js';\nexport const one = () => two;\n",
      'server/bus/circle-two.ts': "import { one } from './circle-one.js';\nexport const two = () => one;\n",
      'server/console/page.ts': "import { page } from '../../app/page';\nexport const console = page;\n",
      'app/page.ts': 'export const page = 1;\n',
      'app/components/value.tsx': "import { lease } from '../../server/lease/fine.js';\nexport const value = lease;\n",
      'app/components/type.tsx': "import type { a } from '../../server/citations/a.js';\nexport type Type = typeof a;\n",
    });
    const { output } = await run('dependency-cruiser/bin/dependency-cruise.mjs', ['--config', '.dependency-cruiser.cjs', 'server', 'app']);
    const found = [...output.matchAll(/error (\S+): (\S+)/g)].map(([, rule, file]) => `${file} ${rule}`);
    expect(found.sort()).toEqual([
      'app/components/value.tsx app-imports-these-of-the-server',
      'app/components/value.tsx app-takes-types-only',
      'server/bus/circle-one.ts no-cycles',
      'server/console/page.ts server-never-imports-app',
      'server/db/left.ts db-imports-only-rightward',
      'server/parse/across.ts handlers-are-strangers',
    ]);
  });
});

describe('the build for the browser', () => {
  it('fails when a component takes a value from the server', async () => {
    for (const name of ['app', 'server', 'public', 'package.json', 'tsconfig.json', 'vite.config.ts', 'tailwind.config.ts']) {
      if (fs.existsSync(path.join(root, name))) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
    }
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
    const client = path.join(copy, 'app/entry.client.tsx');
    fs.appendFileSync(client, "\nimport { cleanText } from '../server/db/text.js';\ndocument.title = cleanText(document.title);\n");
    const { code, output } = await run('@remix-run/dev/dist/cli.js', ['vite:build']);
    expect(code).not.toBe(0);
    expect(output).toMatch(/denied/i);
    expect(output).toContain('server/db/text');
  }, 240_000);
});
