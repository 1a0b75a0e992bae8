/** The browser's end of a guarded action: reads the card, sends the attempt. Every call ends within its time, with words for what to do. */
import { v7 as uuidv7 } from 'uuid';
import type { RowPage } from '../server/console/row-page.js';
import type { Answer, Preflight } from '../server/operations/operate.js';

/** What is to be done, to what. `fields`: as the action's declaration reads them. */
export interface Order {
  action: string;
  fields: Record<string, string>;
  /** A name from outside (a file, an app, a worker), shown isolated. */
  subject: string;
  /** The question before and after the subject, where the action's own words leave open what was chosen. */
  ask?: readonly [string, string];
}

/** What GET /operations/:action answers. */
export interface CardView {
  guard: string;
  consequence: string;
  judged: Preflight;
  /** The row, if the action is about one; null also when it is gone. */
  page: RowPage | null;
}

/** `not_done`: turned away before it was looked at; what an earlier press of the same attempt did is as open as before. */
export type Answered = Answer | { outcome: 'unknown' | 'not_done'; text: string };

/** Reading takes a moment; acting may wait for a lock and for a statement (ms; server/operations/operate.ts). */
const READ_MS = 10_000;
const ACT_MS = 40_000;

const UNKNOWN = 'No answer came, so it is not known whether this took effect. Press again: the same attempt is never done twice.';
const SIGNED_OUT = 'Your session has ended. Sign in again in another tab, then press once more.';

/** One a press whose answer is not known yet. Works without a secure context, unlike crypto.randomUUID. */
export function newAttempt(): string {
  return uuidv7();
}

/** @throws an Error whose message says what to do; DOMException AbortError when `signal` fired. */
export async function readCard({ action, fields }: Order, signal: AbortSignal): Promise<CardView> {
  const response = await within(READ_MS, signal, (both) => fetch(`/operations/${action}?${new URLSearchParams(fields)}`, { headers: { Accept: 'application/json' }, signal: both })).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Error('This could not be read: no answer came. It is tried again by itself.');
  });
  if (response.status === 401) throw new Error(SIGNED_OUT);
  if (!response.ok) throw new Error('This could not be read: the console did not answer as it should. It is tried again by itself.');
  return response.json() as Promise<CardView>;
}

/** Never throws: what went wrong on the way is an answer too. */
export async function act({ action, fields }: Order, attempt: string, reason: string, confirmation: string): Promise<Answered> {
  const body = new URLSearchParams({ ...fields, reason, confirmation, attempt });
  try {
    const response = await within(ACT_MS, undefined, (signal) => fetch(`/operations/${action}`, { method: 'POST', body, headers: { Accept: 'application/json' }, signal }));
    if (response.status === 401) return { outcome: 'not_done', text: SIGNED_OUT };
    if (response.ok || response.status === 403) return known(await response.json());
    return { outcome: 'unknown', text: UNKNOWN };
  } catch {
    return { outcome: 'unknown', text: UNKNOWN };
  }
}

/** A lost connection to the database is not known either, and a refusal of the request itself carries no outcome. */
function known(body: unknown): Answered {
  const answer = body as Partial<Answer>;
  if (answer.outcome === undefined) return { outcome: 'not_done', text: 'The console refused this request before it was looked at. Reload the page, and try again.' };
  return answer.code === 'outcome_unknown' ? { outcome: 'unknown', text: answer.text! } : (answer as Answer);
}

/** One controller, a timer and a listener: what ends first aborts. */
async function within<T>(ms: number, outer: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ms);
  outer?.addEventListener('abort', abort);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}
