// Plain JavaScript: runs before anything is built. Transpiles server/** file by file to build/server/** (same tree), for plain node.
import fs from 'node:fs';
import path from 'node:path';

/** Files that node loads as they are; they run before the first build as well. */
const untouched = /\.d\.ts$|\.mjs$/;

/** @param {string} root the project's folder */
export async function buildServer(root) {
  const { build } = await import('esbuild');
  const source = path.join(root, 'server');
  const entryPoints = filesBelow(source).filter(file => /\.(ts|js)$/.test(file) && !untouched.test(file));
  await build({
    entryPoints,
    outbase: source,
    outdir: path.join(root, 'build', 'server'),
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: 'linked',
    logLevel: 'error',
  });
  removeOrphans(source, path.join(root, 'build', 'server'));
}

/** Built files whose source is gone would still be found by an import. */
function removeOrphans(source, built) {
  for (const file of filesBelow(built)) {
    const stem = path.join(source, path.relative(built, file)).replace(/\.js(\.map)?$/, '');
    if (!fs.existsSync(`${stem}.ts`) && !fs.existsSync(`${stem}.js`)) fs.rmSync(file);
  }
}

/** @param {string} directory @returns {string[]} */
export function filesBelow(directory) {
  if (!fs.existsSync(directory)) return [];
  return fs.readdirSync(directory, { withFileTypes: true, recursive: true }).filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
}
