import type { Command } from 'commander';
import { readSignedIn, type SignedInSession } from '../console/settings-sessions.js';
import { createKysely } from '../db/kysely.js';
import { revokeSession, signOutEverywhere } from '../operations/session-actions.js';
import { reasonOption } from './cli-accounts.js';
import { perform, theAccount } from './cli-act.js';
import { answer, answerTable, instant, withDatabaseUp } from './cli-session.js';

type Reason = { reason: string };

/** sessions. */
export function addSessionCommands(program: Command): void {
  const sessions = program.command('sessions').description('browsers that are signed in');
  sessions.command('list').option('--user <name>', 'of this person alone').option('--all', 'ended ones too').description('who is signed in, newest first').action(listSessions);
  sessions.command('revoke').argument('[id]', 'as sessions list shows it').option('--user <name>', 'every session of this person').addOption(reasonOption())
    .description('end a session, or all of one person').action(endSessions);
}

const listSessions = ({ user, all }: { user?: string; all?: true }) => withDatabaseUp(async (session) => {
  const operatorId = user === undefined ? null : (await theAccount(session, user)).id;
  const found: SignedInSession[] = [];
  for (let before: string | null = null, more = true; more; more = before !== null) {
    const page = await readSignedIn(createKysely(session.pool), operatorId, { q: null, show: all ? 'all' : 'open', before });
    found.push(...page.sessions);
    before = page.next;
  }
  answerTable(found.map(({ id, name, via, createdAt, lastSeenAt, endsAt, ended }) =>
    ({ id, name, via, created: instant(createdAt), seen: instant(lastSeenAt), ends: ended ?? instant(endsAt) })), 'Nobody is signed in.');
});

const endSessions = async (id: string | undefined, { user, reason }: Reason & { user?: string }) => {
  if ((id === undefined) === (user === undefined)) throw new Error('Expected the id of one session, or --user NAME for all of one person. See npx leaseboard sessions list');
  await withDatabaseUp(async (session) => {
    const done = user === undefined ? await perform(session, revokeSession, { id }, reason) : await perform(session, signOutEverywhere, { id: (await theAccount(session, user)).id }, reason);
    answer(done.text);
  });
};
