/** How people and programs get in after a start: the console's address, a one-time sign-in link, an API token. */
import fs from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import type { Config } from '../config.js';
import { inTransaction } from '../db/connection.js';
import { createSigninLink, operatorOfRole, replaceApiToken, type OperatorRole } from '../operations/accounts.js';

/** The name of the token that each start replaces: only hashes are kept, so the old one cannot be shown again. */
const START_TOKEN = 'start';

/** The console as its users reach it, without a slash at the end. */
export function consoleUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  if (config.publicUrl) return config.publicUrl.replace(/\/+$/, '');
  const everywhere = ['0.0.0.0', '::', '*'].includes(config.host);
  const host = everywhere ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
}

/** Says where this installation's console is, so that a command in another terminal prints links that lead there. */
export function rememberConsole(config: Config): void {
  fs.writeFileSync(rememberedIn(config), `${consoleUrl(config)}\n`);
}

/** PUBLIC_URL, else HOST and PORT, else where the last start put it. */
function knownConsole(config: Config): string {
  const told = config.publicUrl ?? process.env.PORT?.trim() ?? process.env.HOST?.trim();
  const file = rememberedIn(config);
  return told || !config.embedded || !fs.existsSync(file) ? consoleUrl(config) : fs.readFileSync(file, 'utf8').trim();
}

const rememberedIn = ({ dataDir }: Config) => path.join(dataDir, 'console-url');

/** A link that signs in an operator of the role, once. */
export async function signinLink(pool: pg.Pool, config: Config, role: OperatorRole): Promise<string> {
  const secret = await inTransaction(pool, async tx => createSigninLink(tx, (await operatorOfRole(tx, role)).id));
  return `${knownConsole(config)}/signin/${secret}`;
}

/** A fresh token under the start's name; the one of the start before is revoked. */
export function startToken(pool: pg.Pool): Promise<string> {
  return inTransaction(pool, tx => replaceApiToken(tx, START_TOKEN));
}
