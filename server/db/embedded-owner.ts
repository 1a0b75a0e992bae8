/** Who runs the embedded server. Postgres refuses to run as root, so root hands it to an unprivileged user. */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';

/** The user of the server; ids are undefined when it is simply us. */
export type Owner = { name: string, uid?: number, gid?: number };

export type Ran = { code: number | null, output: string };

/** The server sees none of our environment: no secrets, no locale, no PG* variables. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', NODE_ENV: 'production' };

/** Us, unless we are root: then the user that owns `clusterDir` already, else `postgres`, else one of our own making, else `nobody`. */
export function chooseOwner(clusterDir: string): Owner {
  if (process.getuid?.() !== 0) return { name: os.userInfo().username };
  const existing = fs.statSync(clusterDir, { throwIfNoEntry: false });
  if (existing && existing.uid !== 0) return { name: `uid ${existing.uid}`, uid: existing.uid, gid: existing.gid };
  const owner = findUser('postgres') ?? findUser('leaseboard') ?? createUser('leaseboard') ?? findUser('nobody');
  if (!owner) {
    throw new Error('Postgres does not run as root, and there is no unprivileged user to hand it to. Create one (useradd --system leaseboard), or start as an ordinary user, or set DATABASE_URL.');
  }
  return owner;
}

function findUser(name: string): Owner | undefined {
  const [uid, gid] = ['-u', '-g'].map(kind => spawnSync('id', [kind, name], { encoding: 'utf8' })).map(answer => answer.status === 0 ? Number(answer.stdout) : NaN);
  return uid && gid ? { name, uid, gid } : undefined;
}

function createUser(name: string): Owner | undefined {
  const ways: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]],
    ['adduser', ['-S', '-D', '-H', name]],
  ];
  for (const [command, args] of ways) {
    if (spawnSync(command, args, { stdio: 'ignore' }).status === 0) return findUser(name);
  }
  return undefined;
}

/** Runs a program as the owner and answers its exit code and everything it said. Ends it after `timeoutMs`. */
export function runAs(owner: Owner, command: string, args: string[], timeoutMs = 120_000): Promise<Ran> {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd: '/', env: serverEnvironment, uid: owner.uid, gid: owner.gid, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    let output = '';
    child.stdout.on('data', (part: Buffer) => { output += part.toString(); });
    child.stderr.on('data', (part: Buffer) => { output += part.toString(); });
    child.on('error', error => resolve({ code: null, output: `${output}${error.message}` }));
    child.on('close', code => resolve({ code, output }));
  });
}

/** True when the owner can enter the folder and write there. */
export async function canWrite(owner: Owner, directory: string): Promise<boolean> {
  const { code } = await runAs(owner, '/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', directory]);
  return code === 0;
}
