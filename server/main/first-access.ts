/** How people and programs get in after a start: the console's address, a one-time sign-in link, an API token. */
import fs from 'node:fs';
import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../config.js';
import { createAccount } from '../operations/account-actions.js';
import { apiScopes, findOperator, newApiToken, oldestOfRole, type OperatorRole } from '../operations/accounts.js';
import { newSecret, secretHash } from '../operations/secret.js';
import { createLink } from '../operations/session-actions.js';
import { createToken, revokeToken } from '../operations/token-actions.js';
import { perform } from './cli-act.js';
import type { Session } from './cli-session.js';

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
export function knownConsole(config: Config): string {
  const told = config.publicUrl ?? process.env.PORT?.trim() ?? process.env.HOST?.trim();
  const file = rememberedIn(config);
  return told || !config.embedded || !fs.existsSync(file) ? consoleUrl(config) : fs.readFileSync(file, 'utf8').trim();
}

const rememberedIn = ({ dataDir }: Config) => path.join(dataDir, 'console-url');

/** A link that signs in the oldest enabled operator of the role, once; one named after the role is made when there is none. Safe to run twice at once. */
export async function signinLink(session: Session, role: OperatorRole, reason: string, actor?: string): Promise<string> {
  for (let number = 1; ; number++) {
    const operator = await oldestOfRole(session.pool, role);
    if (operator) return linkFor(session, operator.id, reason, actor);
    const name = number === 1 ? role : `${role}-${number}`;
    if (!await findOperator(session.pool, name)) await perform(session, createAccount, { id: uuidv7(), name, role }, reason, actor).catch(unlessTaken(session, name));
  }
}

/** Somebody else made it in the same instant: the next round finds it. */
const unlessTaken = ({ pool }: Session, name: string) => async (error: unknown) => {
  if (!await findOperator(pool, name)) throw error;
};

/** A link that signs in this operator, once. */
export async function linkFor(session: Session, operatorId: string, reason: string, actor?: string): Promise<string> {
  const secret = newSecret();
  await perform(session, createLink, { id: operatorId, linkId: uuidv7(), sha256: secretHash(secret).toString('hex') }, reason, actor);
  return `${knownConsole(session.config)}/signin/${secret}`;
}

/** A fresh token under the start's name; the one of the start before is revoked. A crash between the two loses the old token only. */
export async function startToken(session: Session, reason: string, actor: string): Promise<string> {
  for (let tried = 1; ; tried++) {
    const { rows } = await session.pool.query<{ id: string }>('select id from api_tokens where name = $1 and revoked_at is null', [START_TOKEN]);
    if (rows[0]) await perform(session, revokeToken, { id: rows[0].id }, reason, actor);
    const token = newApiToken();
    try {
      await perform(session, createToken, { id: uuidv7(), name: START_TOKEN, sha256: secretHash(token).toString('hex'), scopes: apiScopes, expiresInDays: null }, reason, actor);
      return token;
    } catch (error) {
      if (tried >= 5) throw error;   // otherwise another start of the same moment was first
    }
  }
}
