/** What the embedded server must keep between starts: its password (so the file is 0600), its port, where its cluster lies. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

export type EmbeddedState = { port: number, password: string, root?: string };

/** Below the ranges from which Linux and macOS take ports for outgoing connections. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;

const stateFile = (dataDir: string) => path.join(dataDir, 'postgres.json');

export function readState(dataDir: string): EmbeddedState | undefined {
  try {
    return JSON.parse(fs.readFileSync(stateFile(dataDir), 'utf8')) as EmbeddedState;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (code === 'EACCES') throw new Error(`${stateFile(dataDir)} belongs to another user, who set up this embedded database. Start as that user, or set DATABASE_URL.`);
    throw error;
  }
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. */
export function writeState(dataDir: string, state: EmbeddedState): void {
  const draft = `${stateFile(dataDir)}.${randomUUID()}`;
  fs.writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(draft, stateFile(dataDir));
}

export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** A port of 127.0.0.1 that nobody listens on right now. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < 100; tried++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port between ${FIRST_PORT} and ${LAST_PORT} of 127.0.0.1 is free for the embedded database. Set DATABASE_URL.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** The connection string of a database of the embedded server. */
export function urlOf(state: EmbeddedState, database: string): string {
  return `postgres://leaseboard:${state.password}@127.0.0.1:${state.port}/${database}`;
}
