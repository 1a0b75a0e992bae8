import os from 'node:os';
import readline from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { createRowHints } from '../bus/row-hints.js';
import { selectEntries } from '../console/audit.js';
import { parseAuditFilters } from '../console/audit-filters.js';
import { readOnly } from '../console/read.js';
import { createKysely } from '../db/kysely.js';
import { isWorker } from '../lease/processes.js';
import { queueBySlug, queueByTable, queues } from '../lease/queues.js';
import type { AnyAction } from '../operations/action.js';
import { actionByName, type ActionName } from '../operations/actions.js';
import { operate, type Answer } from '../operations/operate.js';
import { pruneHistory, RETENTION_BATCH } from '../operations/retention.js';
import { holderOf, readRowNow } from '../operations/row-now.js';
import { answer, answerTable, instant, withDatabaseUp, type Session } from './cli-session.js';

interface Given { reason: string; yes?: true; token?: string }

/** act, retention, audit. */
export function addActionCommands(program: Command): void {
  const act = program.command('act').description('what the buttons of the console do, by the same guarded and audited door; exit 1 when it is refused');
  const verb = (name: string, action: ActionName, ...args: string[]) => {
    const { consequence, guard } = actionByName(action)!;
    const command = act.command(name).summary(consequence.split('. ', 1)[0]!.replace(/\.?$/, '.')).description(`${consequence} ${guard}`).requiredOption('--reason <text>', 'why; kept in the audit');
    for (const arg of args) command.argument(`<${arg}>`, ARGUMENTS[arg]!);
    if (actionByName(action)!.confirmation) command.option('--yes', 'do not ask for the confirmation to be typed');
    return command;
  };
  for (const [name, action] of [['release', 'release'], ['force-release', 'force_release']] as const) {
    verb(name, action, 'queue', 'id').addOption(tokenOption()).action((queue: string, id: string, given: Given) => onLease(action, { queue, id }, given));
  }
  verb('clear-lock', 'clear_lock', 'deployment').addOption(tokenOption()).action((id: string, given: Given) => onLease('clear_lock', { queue: 'deployments', id }, given));
  verb('rekick', 'rekick', 'queue', 'id').action((queue: string, id: string, given: Given) => on('rekick', { queue, id }, given));
  verb('cancel', 'cancel', 'queue', 'id').action((queue: string, id: string, given: Given) => on('cancel', { queue, id }, given));
  verb('reset-sources', 'reset_sources', 'userId', 'sessionId').action((userId: string, sessionId: string, given: Given) => on('reset_sources', { userId, sessionId }, given));
  verb('erase-user', 'erase_user', 'userId').action((userId: string, given: Given) => on('erase_user', { userId }, given));
  verb('drain', 'drain', 'worker').action((worker: string, given: Given) => onWorker('drain', worker, given));
  verb('resume', 'resume', 'worker').action((worker: string, given: Given) => onWorker('resume', worker, given));
  verb('pause', 'pause_queue', 'queue').action((queue: string, given: Given) => on('pause_queue', { queue }, given));
  verb('unpause', 'resume_queue', 'queue').action((queue: string, given: Given) => on('resume_queue', { queue }, given));

  const retention = program.command('retention').description('what is kept by day: RETENTION_EVENT_DAYS, RETENTION_MINUTE_DAYS');
  retention.command('run').option('--reason <text>', 'why; kept in the audit', 'the daily run').description('prune what is older').action(runRetention);

  program.command('audit').description('what was done and tried, newest first')
    .option('--actor <name>').option('--action <name>').option('--target <id>', 'whole id').addOption(new Option('--outcome <outcome>').choices(['applied', 'refused']))
    .option('--limit <n>', 'at most so many', wholeNumber, 50).action(listAudit);
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  queue: queues.map(({ slug }) => slug).join(', '), id: 'of the row', deployment: 'its id', userId: 'as the product backend names the user', sessionId: 'as the product backend names the session',
  worker: 'its id, or its label while one of that label lives',
};

function tokenOption(): Option {
  return new Option('--token <n>', 'the lease that you saw; left out: the one that is there now');
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 10_000) throw new Error(`--limit: expected a whole number from 1 to 10000, found ${JSON.stringify(text)}`);
  return number;
}

const on = (name: ActionName, fields: Record<string, string>, given: Given) => withDatabaseUp((session) => perform(session, actionByName(name)!, fields, given));

/** The guard needs the lease that whoever acts has seen; without --token it is looked up and said. */
const onLease = (name: ActionName, fields: { queue: string; id: string }, given: Given) => withDatabaseUp(async (session) => {
  const token = given.token ?? (await lookUp(session, fields));
  await perform(session, actionByName(name)!, { ...fields, token }, given);
});

async function lookUp({ pool }: Session, { queue: name, id }: { queue: string; id: string }): Promise<string> {
  const queue = queueBySlug(name) ?? queueByTable(name);
  const found = queue && /^[0-9a-f-]{36}$/i.test(id) ? await readRowNow(pool, queue, id, { lock: false }) : undefined;
  if (!found) return '0'; // the door says what is wrong with it
  process.stderr.write(`It is ${found.row.state}, lease #${found.row.token}, held by ${holderOf(found.row)}.\n`);
  return found.row.token;
}

const onWorker = (name: ActionName, worker: string, given: Given) => withDatabaseUp(async (session) => {
  const { rows } = await session.pool.query<{ id: string }>(
    `select id from workers where id = $1 union all select id from workers where label = $1 and id <> $1 and ${isWorker()} and stopped_at is null and gone_at is null`, [worker]);
  if (rows.length > 1) throw new Error(`${rows.length} workers called ${worker} live: ${rows.map(({ id }) => id).join(', ')}. Nothing was changed; name one by its id.`);
  await perform(session, actionByName(name)!, { worker: rows[0]?.id ?? worker }, given);
});

/** Prints the answer: on stdout when it was done; thrown, which ends the command with 1, when it was refused. */
async function perform(session: Session, action: AnyAction, fields: unknown, given: Given): Promise<void> {
  const confirmation = await confirmed(action, fields, given.yes === true);
  const done = await throughTheDoor(session, action, fields, given.reason, confirmation);
  if (done.outcome === 'refused') throw new Error(done.text);
  answer(done.text);
}

async function throughTheDoor({ pool, config, log }: Session, action: AnyAction, fields: unknown, reason: string, confirmation: string | undefined): Promise<Answer> {
  const hints = createRowHints({ send: (sql, params) => pool.query(sql, params), rowsChannel: config.rowsChannel, log });
  try {
    return await operate({ pool, config, log, hints }, action, { actor: { kind: 'cli', id: null, name: osUser(), role: 'admin' }, via: 'cli', fields, reason, confirmation });
  } finally {
    await hints.flush();
  }
}

/** Whoever sits at this machine; some containers know no name for them. */
function osUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** What has to be typed for what cannot be taken back. */
async function confirmed(action: AnyAction, fields: unknown, yes: boolean): Promise<string | undefined> {
  const input = action.fields.safeParse(fields);
  const expected = input.success ? action.confirmation?.(input.data) : undefined;
  if (expected === undefined || yes) return expected;
  if (!process.stdin.isTTY) throw new Error(`${action.consequence} Nothing was changed; add --yes if that is meant.`);
  const prompt = readline.createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await prompt.question(`${action.consequence}\nType ${expected} to confirm: `);
  } finally {
    prompt.close();
  }
}

/** Batch by batch, each its own transaction and audit row, until a batch was not full. Nothing to prune is no failure. */
const runRetention = ({ reason }: { reason: string }) => withDatabaseUp(async (session) => {
  for (let more = true; more;) {
    const done = await throughTheDoor(session, pruneHistory, {}, reason, undefined);
    if (done.outcome === 'refused' && done.code !== 'nothing_old') throw new Error(done.text);
    answer(done.text);
    more = Math.max(...['events', 'minutes', 'messages'].map((what) => Number(done.now?.[what] ?? 0))) >= RETENTION_BATCH;
  }
});

const listAudit = ({ limit, ...filters }: { actor?: string; action?: string; target?: string; outcome?: string; limit: number }) => withDatabaseUp(async ({ pool }) => {
  const wanted = parseAuditFilters(new URLSearchParams(filters));
  const entries = await readOnly(createKysely(pool), (reader) => selectEntries(reader, wanted, limit));
  answerTable(entries.map((entry) => ({
    at: instant(entry.at), who: `${entry.actor} (${entry.actorKind})`, action: entry.action, outcome: entry.refusal ?? entry.outcome,
    target: `${entry.queue ?? entry.targetKind} ${entry.targetId}`, reason: entry.reason ?? '-', answer: entry.answer,
  })), 'Nothing of this kind was done or tried.');
});
