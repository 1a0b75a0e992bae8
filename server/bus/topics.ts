/**
 * What travels over LISTEN/NOTIFY. Hints only, ids only: everything here is safe to lose, to repeat and to reorder; the poll behind
 * it finds what a lost hint meant. A payload that cannot be understood (another version, another program) is ignored, never an error.
 */

/** Postgres refuses a payload of 8,000 bytes (not characters) and with it the transaction that sends it. */
export const MAX_PAYLOAD_BYTES = 7_999;
/** More changed ids of one table than this in one send: readers are told to read again rather than given the list. */
export const MAX_HINTED_IDS = 1_000;

/** `q`: rows of this queue are claimable; `low`: some lie below the claim scan's low-water mark. */
export type KickMessage =
  | { q: string; low?: true }
  | { lost: string[] }
  | { drain: string }
  | { resume: string };

/** `t`, `ids`: these rows changed. `t`, `reread`: too many changed to name. `w`: this worker has beaten. */
export type RowsMessage =
  | { t: string; ids: string[] }
  | { t: string; reread: true }
  | { w: string };

export interface Topics {
  kick: KickMessage;
  rows: RowsMessage;
}
export type Topic = keyof Topics;

const byteLength = (text: string) => Buffer.byteLength(text, 'utf8');

/**
 * The payloads that carry `message`, each at most MAX_PAYLOAD_BYTES; lists of ids are cut into as many as they need.
 * What cannot fit even alone is left out: a hint must never fail the transaction that sends it.
 */
export function encode(message: KickMessage | RowsMessage): string[] {
  if ('ids' in message) return chunkIds(message.ids, (ids) => ({ t: message.t, ids }));
  if ('lost' in message) return chunkIds(message.lost, (lost) => ({ lost }));
  const text = JSON.stringify(message);
  return byteLength(text) <= MAX_PAYLOAD_BYTES ? [text] : [];
}

function chunkIds(ids: readonly string[], wrap: (ids: string[]) => object): string[] {
  const room = MAX_PAYLOAD_BYTES - byteLength(JSON.stringify(wrap([])));
  const payloads: string[] = [];
  let chunk: string[] = [];
  let used = 0;
  for (const id of ids) {
    const size = byteLength(JSON.stringify(id)) + 1; // and a comma, one too many for the last: never over
    if (size > room) continue;
    if (used + size > room) {
      payloads.push(JSON.stringify(wrap(chunk)));
      chunk = [];
      used = 0;
    }
    chunk.push(id);
    used += size;
  }
  if (chunk.length > 0) payloads.push(JSON.stringify(wrap(chunk)));
  return payloads;
}

/** The message in `payload`, or null when it is none of this topic's. Unknown fields are dropped. Never throws. */
export function decode<T extends Topic>(topic: T, payload: unknown): Topics[T] | null {
  const fields = parseObject(payload);
  if (!fields) return null;
  return (topic === 'kick' ? asKick(fields) : asRows(fields)) as Topics[T] | null;
}

type Fields = Record<string, unknown>;

function parseObject(payload: unknown): Fields | null {
  if (typeof payload !== 'string') return null;
  try {
    const value: unknown = JSON.parse(payload);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value.length > 0;
const isNames = (value: unknown): value is string[] => Array.isArray(value) && value.every(isName);

function asKick({ q, low, lost, drain, resume }: Fields): KickMessage | null {
  if (isName(q)) return low === true ? { q, low } : { q };
  if (isNames(lost)) return { lost };
  if (isName(drain)) return { drain };
  if (isName(resume)) return { resume };
  return null;
}

function asRows({ t, ids, reread, w }: Fields): RowsMessage | null {
  if (isName(w)) return { w };
  if (!isName(t)) return null;
  if (reread === true) return { t, reread };
  return isNames(ids) ? { t, ids } : null;
}
