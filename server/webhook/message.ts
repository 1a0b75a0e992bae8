import { v7 as uuidv7 } from 'uuid';
import { spell } from '../operations/spell.js';
import type { Facts } from './conditions.js';

/** What began or ended; instants in milliseconds since 1970, on the database clock. */
export interface Occurrence {
  /** The same in the message of the beginning and in that of the end. */
  id: string;
  beganAt: number;
  /** When it was last seen; null while it stands. */
  endedAt: number | null;
  /** The moment of this message. */
  at: number;
  facts: Facts;
}

export interface Message {
  id: string;
  event: 'attention.began' | 'attention.ended';
  /** JSON, written once: a repeat has the same bytes. */
  body: string;
}

/** @param origin the console as its users reach it, without a path. */
export function messageOf({ id: attentionId, beganAt, endedAt, at, facts }: Occurrence, origin: string): Message {
  const id = uuidv7();
  const event = endedAt === null ? 'attention.began' : 'attention.ended';
  const seconds = Math.round(((endedAt ?? at) - beganAt) / 1000);
  const { kind, about, severity, what, text, path } = facts;
  return { id, event, body: JSON.stringify({
    event, id, attentionId, kind, about, severity,
    text: endedAt === null ? text : `Over after ${spell(seconds)}: ${what}.`,
    url: `${origin}${path}`, beganAt: instant(beganAt), endedAt: endedAt === null ? null : instant(endedAt), seconds,
  }) };
}

/** @returns what `leaseboard webhook test` sends. */
export function testMessage(origin: string): { id: string; body: string } {
  const id = uuidv7();
  return { id, body: JSON.stringify({ event: 'webhook.test', id, text: 'A test message of Leaseboard: this is where it tells what needs attention. Nothing needs to be done.', url: `${origin}/` }) };
}

function instant(at: number): string {
  return new Date(at).toISOString();
}
