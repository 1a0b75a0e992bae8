/**
 * What a guarded action is: a permission, a target, a guard that its statement repeats, a sentence for what was done and one for every way in
 * which it can be refused. A declaration that leaves one out does not compile; nothing acts but through operate.ts, which takes declarations.
 */
import type pg from 'pg';
import type { z } from 'zod';
import type { KickMessage } from '../bus/topics.js';
import type { Config } from '../config.js';
import type { OperatorRole } from './accounts.js';

/** Who acts. `id`: the operator or API token; null for the command line. */
export interface Actor {
  kind: 'operator' | 'cli' | 'token';
  id: string | null;
  name: string;
  role: OperatorRole;
}

/** What is acted on, as the audit keeps it. */
export interface Target {
  kind: 'row' | 'worker' | 'queue' | 'session' | 'user' | 'account' | 'token' | 'link' | 'report' | 'system';
  id: string;
  /** Table of the queue, for a row. */
  queue?: string;
  /** The row whose timeline shows it. */
  rowId?: string;
  userId?: string;
  sessionId?: string;
}

/** Facts about the target before or after, small enough to read in the audit: states, tokens, counts, ids. No text, name of a file or e-mail. */
export type Snapshot = Record<string, string | number | boolean | null>;

export interface Applied {
  outcome: 'applied';
  before: Snapshot;
  after: Snapshot;
  /** Whose row it is, where only the statement knows. */
  owner?: { userId: string; sessionId?: string };
  /** Rows that consoles should read again, after the commit. */
  changed: readonly { table: string; ids: readonly string[] }[];
  /** Sent inside the transaction. */
  kicks: readonly KickMessage[];
}

export interface Refused<Code extends string> {
  outcome: 'refused';
  code: Code;
  /** The target as it is now; null when it does not exist. */
  now: Snapshot | null;
  /** Further words for the refusal's sentence: who was first, how long, how many. */
  facts?: Snapshot;
}

/** Any action may find that its target does not exist. */
export type Effect<Code extends string> = Applied | Refused<Code | 'not_found'>;

/** What an action's statement may use besides its transaction. */
export interface ActionContext {
  config: Config;
  actor: Actor;
  /** Required and trimmed. */
  reason: string;
}

export interface Action<Name extends string = string, Fields extends z.ZodType = z.ZodType, Code extends string = string> {
  name: Name;
  /** The least role that may. */
  permission: OperatorRole;
  /** What the request must hold besides reason and confirmation. */
  fields: Fields;
  target(input: z.output<Fields>): Target;
  /** What its statement repeats, for the card: "Only while …". */
  guard: string;
  /** What happens when it is applied, for the card. */
  consequence: string;
  /** The text that must be typed, for what cannot be taken back. */
  confirmation?(input: z.output<Fields>): string;
  /** Past tense, from the row that was changed. */
  did(effect: Applied, input: z.output<Fields>): string;
  /** What is true now, and what to do next. */
  refusals: { readonly [C in Code]: (facts: Snapshot) => string };
  /**
   * The conditional statement, in the transaction of its audit row. It may be rolled back and run again (preflight, deadlock): no effect outside.
   * Applied only if a row was changed, judged by what the statement returned.
   */
  act(tx: pg.PoolClient, input: z.output<Fields>, context: ActionContext): Promise<Effect<NoInfer<Code>>>;
  /** For the card, where running the statement and rolling it back would cost too much. */
  preview?(tx: pg.PoolClient, input: z.output<Fields>, context: ActionContext): Promise<Effect<NoInfer<Code>>>;
}

/** Checks a declaration; its type keeps the name, the fields and the codes. */
export function defineAction<const Name extends string, Fields extends z.ZodType, const Code extends string>(action: Action<Name, Fields, Code>): Action<Name, Fields, Code> {
  return action;
}

/** Whatever the names, fields and codes: how operate() sees a declaration. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry holds actions of every kind; each was checked by defineAction
export type AnyAction = Action<string, z.ZodType<any>, any>;

const RANK: Readonly<Record<OperatorRole, number>> = { viewer: 0, operator: 1, admin: 2 };

export function mayAct(role: OperatorRole, permission: OperatorRole): boolean {
  return RANK[role] >= RANK[permission];
}
