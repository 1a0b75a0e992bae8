// Plain JavaScript without dependencies: runs before node_modules exists.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** What package.json's engines say; checked here as well, because npm only warns outside of an install. */
export function checkNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!fits) throw new Error(`Leaseboard needs Node 20.19 or newer (not 21), or 22.12 or newer; this is Node ${version}. Install one from https://nodejs.org and try again.`);
}

/** True when node_modules does not hold what package-lock.json says. @param {string} root */
export function needsInstall(root) {
  const modules = path.join(root, 'node_modules');
  if (readOr(stampFile(root)) === lockHash(root)) return false;
  const installed = fs.statSync(path.join(modules, '.package-lock.json'), { throwIfNoEntry: false });
  const byHand = installed !== undefined && installed.mtimeMs >= fs.statSync(path.join(root, 'package-lock.json')).mtimeMs;
  return !byHand;
}

/** npm ci, with what it says on stderr. Development dependencies too: the build is made of them. @param {string} root */
export async function install(root) {
  process.stderr.write('Installing dependencies (npm ci) …\n');
  const code = await new Promise((resolve, reject) => {
    const npm = spawn('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
    npm.on('error', reject);
    npm.on('close', resolve);
  });
  if (code !== 0) throw new Error(`npm ci failed (exit ${code}); its reason is above. Is the package registry reachable?`);
  fs.writeFileSync(stampFile(root), lockHash(root));
}

/** `npx leaseboard` finds a link here at once; without it npx links the whole project into its cache first. @param {string} root */
export function linkCommand(root) {
  const link = path.join(root, 'node_modules', '.bin', 'leaseboard');
  if (fs.lstatSync(link, { throwIfNoEntry: false })) return;
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync('../../server/main/leaseboard.mjs', link);
}

function stampFile(root) {
  return path.join(root, 'node_modules', '.leaseboard-install');
}

function lockHash(root) {
  return createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json'))).digest('hex');
}

function readOr(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
}
