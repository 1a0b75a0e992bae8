import type { AnyAction } from '../operations/action.js';
import { findOperator, type OperatorRow } from '../operations/accounts.js';
import { operate, type Answer } from '../operations/operate.js';
import type { Session } from './cli-session.js';

/** Does what a page would, by the same door: audited as the command line, with every right. Throws what was refused, which ends the command with 1. */
export async function perform({ pool, config, log }: Session, action: AnyAction, fields: unknown, reason: string, actor = 'cli'): Promise<Answer> {
  const done = await operate({ pool, config, log, hints: { changed: () => undefined } }, action, {
    actor: { kind: 'cli', id: null, name: actor, role: 'admin' }, via: 'cli', fields, reason,
  });
  if (done.outcome === 'refused') throw new Error(done.text);
  return done;
}

/** Case aside. Throws what to do when there is none. */
export async function theAccount({ pool }: Session, name: string): Promise<OperatorRow> {
  const account = await findOperator(pool, name);
  if (!account) throw new Error(`There is no operator called ${name}. See npx leaseboard users list`);
  return account;
}
