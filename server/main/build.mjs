// Plain JavaScript: runs before anything is built. Built once for each state of the sources, told by their content (a checkout changes
// times without changing files). The stamp goes before a build and comes back after it: a build that was cut off is done again.
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';

/** Files that node loads as they are; they run before the first build as well. */
const untouched = /\.d\.ts$|\.mjs$/;

/** What each build is made of; folders with all that is below them. */
const sources = {
  server: ['server', 'package-lock.json', 'tsconfig.json'],
  app: ['app', 'server', 'public', 'vite.config.ts', 'tailwind.config.ts', 'package-lock.json', 'tsconfig.json'],
};

/** Names of the builds that do not match their sources. @param {string} root @returns {('server' | 'app')[]} */
export function staleBuilds(root) {
  const wanted = fs.existsSync(path.join(root, 'app', 'root.tsx')) ? ['server', 'app'] : ['server'];
  return wanted.filter(name => readStamp(root, name) !== fingerprint(root, name));
}

/** Brings one build up to date. @param {string} root @param {'server' | 'app'} name */
export async function build(root, name) {
  const current = fingerprint(root, name);
  fs.rmSync(stampFile(root, name), { force: true });
  await (name === 'server' ? buildServer(root) : buildApp(root));
  await (await import('esbuild')).stop();   // its helper process would stay for as long as the command that we become
  fs.writeFileSync(stampFile(root, name), current);
}

/** Transpiles server/** file by file to build/server/** (same tree), for plain node. @param {string} root */
export async function buildServer(root) {
  const esbuild = await import('esbuild');
  const source = path.join(root, 'server');
  const built = path.join(root, 'build', 'server');
  await esbuild.build({
    entryPoints: filesBelow(source).filter(file => /\.(ts|js)$/.test(file) && !untouched.test(file)),
    outbase: source,
    outdir: built,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: 'linked',
    logLevel: 'silent',
  });
  removeOrphans(source, built);
}

/** Built files whose source is gone would still be found by an import. */
function removeOrphans(source, built) {
  for (const file of filesBelow(built)) {
    const stem = path.join(source, path.relative(built, file)).replace(/\.js(\.map)?$/, '');
    if (!fs.existsSync(`${stem}.ts`) && !fs.existsSync(`${stem}.js`)) fs.rmSync(file);
  }
}

async function buildApp(root) {
  const { code, output } = await run(process.execPath, [path.join(root, 'node_modules/@remix-run/dev/dist/cli.js'), 'vite:build'], root);
  if (code !== 0) throw new Error(`Building the console failed (remix vite:build, exit ${code}):\n${output}`);
}

/** @returns {Promise<{ code: number | null, output: string }>} */
function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', part => { output += part; });
    child.stderr.on('data', part => { output += part; });
    child.on('error', reject);
    child.on('close', code => resolve({ code, output }));
  });
}

function stampFile(root, name) {
  return path.join(root, 'build', `.${name}-stamp`);
}

function readStamp(root, name) {
  return fs.existsSync(stampFile(root, name)) ? fs.readFileSync(stampFile(root, name), 'utf8') : undefined;
}

function fingerprint(root, name) {
  const hash = createHash('sha256');
  for (const source of sources[name]) {
    for (const file of filesBelow(path.join(root, source)).sort()) {
      hash.update(`${path.relative(root, file)}\0`).update(createHash('sha256').update(fs.readFileSync(file)).digest());
    }
  }
  return hash.digest('hex');
}

/** @param {string} place a file or a folder @returns {string[]} */
export function filesBelow(place) {
  const found = fs.statSync(place, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [place] : [];
  const entries = fs.readdirSync(place, { withFileTypes: true, recursive: true });
  return entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath ?? entry.path, entry.name));
}
