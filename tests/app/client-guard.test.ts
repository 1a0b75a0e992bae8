import path from 'node:path';
import type { Plugin } from 'vite';
import { build } from 'vite';
import { expect, test } from 'vitest';
import { serverStaysOut } from '../../vite.config.js';

const root = path.resolve(import.meta.dirname, '../..');
const entry = path.join(root, 'app/guard-entry.ts');

function written(code: string): Plugin {
  return { name: 'written', enforce: 'pre', resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? code : null) };
}

function clientBuild(code: string) {
  return build({
    root, configFile: false, logLevel: 'silent', plugins: [written(code), serverStaysOut()],
    build: { write: false, rollupOptions: { input: entry } },
  });
}

test('the client build fails when app code pulls in server code by value', async () => {
  await expect(clientBuild(`import { PAGE_ROWS } from '../server/console/queue-page.js'; console.log(PAGE_ROWS);`)).rejects.toThrow(/server\/console\/queue-page/);
});

test('the client build fails when app code pulls in a module of node', async () => {
  await expect(clientBuild(`import { readFile } from 'node:fs/promises'; console.log(readFile);`)).rejects.toThrow(/node:fs/);
});

test('types of the server cost the browser nothing', async () => {
  await expect(clientBuild(`import type { RowView } from '../server/console/row-view.js'; export const id = (row: RowView) => row.id; console.log(id);`)).resolves.toBeDefined();
});
