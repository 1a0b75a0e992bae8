import { Argument, Option, type Command } from 'commander';
import { changeRole, createApiToken, createOperator, disableOperator, listApiTokens, listOperators, operatorRoles, revokeApiToken, type OperatorRole } from '../operations/accounts.js';
import { answer, answerTable, runningDatabase, withDatabaseUp } from './cli-session.js';
import { signinLink } from './first-access.js';

/** users, tokens, signin-link, db-url. */
export function addAccountCommands(program: Command): void {
  const users = program.command('users').description('the people who may see the console');
  users.command('add').argument('<name>', 'how the audit will call them', aName).addOption(roleOption().makeOptionMandatory()).description('add an operator').action(addUser);
  users.command('list').description('every operator, disabled ones too').action(listUsers);
  users.command('disable').argument('<name>').description('sign an operator out for good').action(disableUser);
  users.command('role').argument('<name>').addArgument(new Argument('<role>').choices(operatorRoles)).description('change what an operator may do').action(setRole);

  const tokens = program.command('tokens').description('bearer tokens of product backends');
  tokens.command('add').argument('<name>', 'one live token a name', aName).description('make a token; prints only the token').action(addToken);
  tokens.command('list').description('every token, revoked ones too').action(listTokens);
  tokens.command('revoke').argument('<name>').description('refuse a token from its next request on').action(revokeToken);

  program.command('signin-link').addOption(roleOption().default('admin')).description('make a link that signs in once; prints only the link').action(printLink);
  program.command('db-url').description('the connection string of the running database; prints only that').action(printDatabaseUrl);
}

function roleOption(): Option {
  return new Option('--role <role>', 'what they may do').choices(operatorRoles);
}

function aName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 200) throw new Error(`expected a name of 1 to 200 characters, found ${name.length}`);
  return name;
}

const addUser = (name: string, { role }: { role: OperatorRole }) => withDatabaseUp(async ({ pool }) => {
  const operator = await createOperator(pool, name, role);
  if (!operator) throw new Error(`There is an operator called ${name} already. Choose another name, or change the role: npx leaseboard users role ${JSON.stringify(name)} ${role}`);
  answer(`Added ${operator.name} (${operator.role}).`);
});

const listUsers = () => withDatabaseUp(async ({ pool }) => {
  answerTable((await listOperators(pool)).map(({ name, role, createdAt, disabledAt }) => ({ name, role, created: instant(createdAt), disabled: instant(disabledAt) })));
});

const disableUser = (name: string) => withDatabaseUp(async ({ pool }) => {
  const operator = await disableOperator(pool, name);
  if (!operator) throw nobodyCalled(name);
  answer(`${operator.name} is disabled.`);
});

const setRole = (name: string, role: OperatorRole) => withDatabaseUp(async ({ pool }) => {
  const operator = await changeRole(pool, name, role);
  if (!operator) throw nobodyCalled(name);
  answer(`${operator.name} is now ${operator.role}.`);
});

const addToken = (name: string) => withDatabaseUp(async ({ pool }) => {
  const token = await createApiToken(pool, name);
  if (!token) throw new Error(`There is a live token called ${name} already. Revoke it first: npx leaseboard tokens revoke ${JSON.stringify(name)}`);
  answer(token);
});

const listTokens = () => withDatabaseUp(async ({ pool }) => {
  answerTable((await listApiTokens(pool)).map(({ name, createdAt, lastUsedAt, revokedAt }) => ({ name, created: instant(createdAt), used: instant(lastUsedAt), revoked: instant(revokedAt) })));
});

const revokeToken = (name: string) => withDatabaseUp(async ({ pool }) => {
  if (!await revokeApiToken(pool, name)) throw new Error(`There is no live token called ${name}. See npx leaseboard tokens list`);
  answer(`${name} is revoked.`);
});

const printLink = ({ role }: { role: OperatorRole }) => withDatabaseUp(async ({ pool, config }) => {
  answer(await signinLink(pool, config, role));
});

async function printDatabaseUrl(): Promise<void> {
  const config = await runningDatabase();
  if (!config) throw new Error('No embedded database runs in this folder. Start it with npm start, or set DATABASE_URL.');
  answer(config.databaseUrl);
}

function nobodyCalled(name: string): Error {
  return new Error(`There is no operator called ${name}. See npx leaseboard users list`);
}

function instant(date: Date | null): string {
  return date ? date.toISOString().replace(/\.\d+Z$/, 'Z') : '-';
}
