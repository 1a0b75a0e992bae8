import { Option, type Command } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import { readTokens, type ApiTokenSummary } from '../console/settings-tokens.js';
import { createKysely } from '../db/kysely.js';
import { apiScopes, newApiToken, tokenScopes, type ApiScope } from '../operations/accounts.js';
import { secretHash } from '../operations/secret.js';
import { createToken, MAX_TOKEN_DAYS, revokeToken } from '../operations/token-actions.js';
import { aName, reasonOption } from './cli-accounts.js';
import { perform } from './cli-act.js';
import { answer, answerTable, instant, withDatabaseUp, type Session } from './cli-session.js';

type Reason = { reason: string };

/** tokens. */
export function addTokenCommands(program: Command): void {
  const tokens = program.command('tokens').description('bearer tokens of product backends');
  tokens.command('add').argument('<name>', 'one live token a name', aName)
    .addOption(new Option('--scope <scopes...>', 'what it may do; default everything of a product backend (api:…), and nothing of a person (act:…)').choices(tokenScopes))
    .addOption(new Option('--expires-days <days>', 'refuse it after so many days; default never').argParser(days)).addOption(reasonOption())
    .description('make a token; prints only the token').action(addToken);
  tokens.command('list').description('every token, revoked ones too').action(listTokens);
  tokens.command('revoke').argument('<name>').addOption(reasonOption()).description('refuse a token from its next request on').action(dropToken);
}

function days(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > MAX_TOKEN_DAYS) throw new Error(`--expires-days: expected a whole number from 1 to ${MAX_TOKEN_DAYS}, found ${JSON.stringify(text)}`);
  return number;
}

const addToken = (name: string, { scope, expiresDays, reason }: Reason & { scope?: ApiScope[]; expiresDays?: number }) => withDatabaseUp(async (session) => {
  answer(await makeToken(session, { name, scopes: scope ?? apiScopes, expiresInDays: expiresDays ?? null }, reason));
});

/** The new token's text, known to nobody else. */
async function makeToken(session: Session, token: { name: string; scopes: readonly ApiScope[]; expiresInDays: number | null }, reason: string): Promise<string> {
  const secret = newApiToken();
  await perform(session, createToken, { id: uuidv7(), sha256: secretHash(secret).toString('hex'), ...token }, reason);
  return secret;
}

async function everyToken({ pool }: Session): Promise<ApiTokenSummary[]> {
  const tokens: ApiTokenSummary[] = [];
  for (let before: string | null = null, more = true; more; more = before !== null) {
    const page = await readTokens(createKysely(pool), { q: null, show: 'all', before });
    tokens.push(...page.tokens);
    before = page.next;
  }
  return tokens;
}

const listTokens = () => withDatabaseUp(async (session) => {
  answerTable((await everyToken(session)).map(({ name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }) =>
    ({ name, scopes: scopes.join(' '), created: instant(createdAt), used: instant(lastUsedAt), expires: instant(expiresAt), revoked: instant(revokedAt) })), 'There are no tokens yet. Make one with npx leaseboard tokens add NAME');
});

const dropToken = (name: string, { reason }: Reason) => withDatabaseUp(async (session) => {
  const token = (await everyToken(session)).find((one) => one.name === name.trim() && one.revokedAt === null);
  if (!token) throw new Error(`There is no live token called ${name}. See npx leaseboard tokens list`);
  await perform(session, revokeToken, { id: token.id }, reason);
  answer(`${name} is revoked.`);
});
