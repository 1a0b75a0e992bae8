import { Argument, Option, type Command } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import { readPeople, type Person } from '../console/settings-people.js';
import { createKysely } from '../db/kysely.js';
import { changeRole, createAccount, disableAccount, enableAccount, setAccountPassword } from '../operations/account-actions.js';
import { operatorRoles, type OperatorRole } from '../operations/accounts.js';
import { passwordFault } from '../operations/password.js';
import { theAccount, perform } from './cli-act.js';
import { readNewPassword } from './cli-password.js';
import { answer, answerTable, instant, runningDatabase, withDatabaseUp } from './cli-session.js';
import { linkFor, signinLink } from './first-access.js';

type Reason = { reason: string };

/** users, signin-link, db-url. */
export function addAccountCommands(program: Command): void {
  const users = program.command('users').description('the people who may see the console');
  users.command('add').argument('<name>', 'how the audit will call them', aName).addOption(roleOption().makeOptionMandatory())
    .option('--password-stdin', 'take the password from the first line of standard input, and make no link').addOption(reasonOption())
    .description('add an operator and print a link with which they sign in and choose a password').action(addUser);
  users.command('list').description('every operator, disabled ones too').action(listUsers);
  users.command('disable').argument('<name>').addOption(reasonOption()).description('sign an operator out for good').action(disableUser);
  users.command('enable').argument('<name>').addOption(reasonOption()).description('let a disabled operator sign in again').action(enableUser);
  users.command('role').argument('<name>').addArgument(new Argument('<role>').choices(operatorRoles)).addOption(reasonOption()).description('change what an operator may do').action(setRole);
  users.command('password').argument('<name>').option('--password-stdin', 'take it from the first line of standard input instead of asking').addOption(reasonOption())
    .description('set an operator\'s password; their sessions end').action(setPassword);

  program.command('signin-link').addOption(roleOption().default('admin')).option('--user <name>', 'this person, whatever their role').addOption(reasonOption())
    .description('make a link that signs in once; prints only the link').action(printLink);
  program.command('db-url').description('the connection string of the running database; prints only that').action(printDatabaseUrl);
}

function roleOption(): Option {
  return new Option('--role <role>', 'what they may do').choices(operatorRoles);
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'why; kept in the audit').default('on the command line');
}

export function aName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 200) throw new Error(`expected a name of 1 to 200 characters, found ${name.length}`);
  return name;
}

/** A password that will not do is refused before the account is made. */
const addUser = async (name: string, { role, passwordStdin, reason }: Reason & { role: OperatorRole; passwordStdin?: true }) => {
  const password = passwordStdin ? await readNewPassword({ fromStdin: true }) : undefined;
  const fault = password === undefined ? null : passwordFault(password, name);
  if (fault !== null) throw new Error(fault);
  await withDatabaseUp(async (session) => {
    const id = uuidv7();
    await perform(session, createAccount, { id, name, role }, reason);
    if (password !== undefined) await perform(session, setAccountPassword, { id, password }, reason);
    answer(`Added ${name} (${role}).`);
    if (password === undefined) answer(`Sign-in link, once, within a day: ${await linkFor(session, id, reason)}`);
  });
};

const listUsers = () => withDatabaseUp(async ({ pool }) => {
  const people: Person[] = [];
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const page = await readPeople(createKysely(pool), { q: null, role: null, state: null, after });
    people.push(...page.people);
    after = page.next;
  }
  answerTable(people.map(({ name, role, signsIn, createdAt, lastSeenAt, disabledAt }) =>
    ({ name, role, 'signs in by': signsIn, created: instant(createdAt), seen: instant(lastSeenAt), disabled: instant(disabledAt) })), 'There are no operators yet. Make the first one\'s link with npx leaseboard signin-link');
});

const disableUser = (name: string, { reason }: Reason) => withDatabaseUp(async (session) => {
  const account = await theAccount(session, name);
  await perform(session, disableAccount, { id: account.id }, reason);
  answer(`${account.name} is disabled.`);
});

const enableUser = (name: string, { reason }: Reason) => withDatabaseUp(async (session) => {
  const account = await theAccount(session, name);
  await perform(session, enableAccount, { id: account.id }, reason);
  answer(`${account.name} is enabled.`);
});

const setRole = (name: string, role: OperatorRole, { reason }: Reason) => withDatabaseUp(async (session) => {
  const account = await theAccount(session, name);
  await perform(session, changeRole, { id: account.id, role, was: account.role }, reason);
  answer(`${account.name} is now ${role}.`);
});

/** Asked for before the database is started, so that a database of ours does not wait for somebody who types. */
const setPassword = async (name: string, { passwordStdin, reason }: Reason & { passwordStdin?: true }) => {
  const password = await readNewPassword({ fromStdin: passwordStdin ?? false });
  await withDatabaseUp(async (session) => {
    const account = await theAccount(session, name);
    await perform(session, setAccountPassword, { id: account.id, password }, reason);
    answer(`The password of ${account.name} is set.`);
  });
};

const printLink = ({ role, user, reason }: Reason & { role: OperatorRole; user?: string }) => withDatabaseUp(async (session) => {
  answer(user === undefined ? await signinLink(session, role, reason) : await linkFor(session, (await theAccount(session, user)).id, reason));
});

async function printDatabaseUrl(): Promise<void> {
  const config = await runningDatabase();
  if (!config) throw new Error('No embedded database runs in this folder. Start it with npm start, or set DATABASE_URL.');
  answer(config.databaseUrl);
}
