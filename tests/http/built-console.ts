import fs from 'node:fs';
import path from 'node:path';
import { build } from '../../server/main/build.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/** `npm test` has built the console before; a single file run by hand may be the first to need it. */
export async function requireBuiltConsole(): Promise<string> {
  if (!fs.existsSync(path.join(root, 'build/app/index.js'))) await build(root, 'app');
  return root;
}
