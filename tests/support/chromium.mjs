// Plain JavaScript: `npm test` asks it before the tests run. Finds a Chromium that really starts: CHROMIUM_PATH, the one that came with the
// development dependencies (Linux on x64), an installed Chromium or Chrome, and as root on Debian one that it installs.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const installed = [
  '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable', '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const cache = fileURLToPath(new URL('../../.cache/chromium', import.meta.url));

/** Root may not use the sandbox; a container's /dev/shm is small. */
const baseArguments = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/**
 * What playwright's `chromium.launch` needs. Throws an error that says how to get a Chromium.
 * @param {{ mayInstall?: boolean }} [options]
 * @returns {Promise<{ executablePath: string, args: string[], env: NodeJS.ProcessEnv }>}
 */
export async function findChromium(options = {}) {
  for (const candidate of [fromEnvironment, bundled, bundledWithLibraries, alreadyInstalled, ...options.mayInstall ? [installWithApt] : []]) {
    const found = await candidate();
    if (found && starts(found)) return { env: process.env, args: baseArguments, ...found };
  }
  throw new Error('The browser tests need a Chromium, and none was found that starts. On Debian or Ubuntu: apt-get install chromium. Elsewhere install Chromium or Chrome, and set CHROMIUM_PATH to its executable if it is in an unusual place.');
}

async function fromEnvironment() {
  return process.env.CHROMIUM_PATH ? { executablePath: process.env.CHROMIUM_PATH } : undefined;
}

async function alreadyInstalled() {
  const executablePath = installed.find(path => fs.existsSync(path));
  return executablePath && { executablePath };
}

async function bundled() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const temporary = process.env.TMPDIR;
  try {
    // It unpacks into the temporary folder and takes what lies there, even another user's: so it gets a folder of this checkout.
    process.env.TMPDIR = cache;
    fs.mkdirSync(cache, { recursive: true });
    const { default: chromium } = await import('@sparticuz/chromium');
    return { executablePath: await chromium.executablePath() };
  } catch {
    return undefined;
  } finally {
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
  }
}

/** With the libraries that come beside it, for a machine that has none of a browser's. */
async function bundledWithLibraries() {
  const found = await bundled();
  const packed = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium/bin/al2023.tar.br', import.meta.url));
  if (!found || !fs.existsSync(packed)) return undefined;
  const folder = path.join(cache, 'al2023');
  fs.mkdirSync(folder, { recursive: true });
  spawnSync('tar', ['-xf', '-', '-C', folder], { input: brotliDecompressSync(fs.readFileSync(packed)) });
  return { ...found, env: { ...process.env, LD_LIBRARY_PATH: path.join(folder, 'lib') } };
}

/** @param {{ executablePath: string, env?: NodeJS.ProcessEnv }} found */
function starts({ executablePath, env }) {
  const { status } = spawnSync(executablePath, ['--headless', ...baseArguments, '--version'], { env: env ?? process.env, timeout: 20_000 });
  return status === 0;
}

function installWithApt() {
  if (process.getuid?.() !== 0 || !fs.existsSync('/usr/bin/apt-get')) return undefined;
  process.stderr.write('Installing Chromium (apt-get install chromium) …\n');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update'], { env, stdio: ['ignore', 'ignore', 2] });
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { env, stdio: ['ignore', 'ignore', 2] });
  return { executablePath: '/usr/bin/chromium' };
}
