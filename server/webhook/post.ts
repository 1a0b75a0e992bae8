/**
 * One POST to the receiver. Promises: an end within the limit, whatever the receiver does; no redirect is followed (a message is for the host
 * that was configured, and no other); of the address only the host is ever said, since the rest may be a secret. Its answer's body is not read.
 */
import { abortable, TimeoutError } from '../sources/abortable.js';
import { isAway } from '../sources/outside-call.js';

/** One try (ms). */
export const TRY_MS = 10_000;

export type Delivery =
  | { outcome: 'taken' }
  /** No answer, 408, 429 or 5xx. `doubtful`: it may have been taken all the same. */
  | { outcome: 'away'; trouble: string; doubtful: boolean; retryAfterMs?: number | undefined }
  /** An answer that will be the same next time, until somebody puts something right. */
  | { outcome: 'refused'; trouble: string };

/** Failures before a connection stood: nothing can have arrived. */
const NOT_CONNECTED: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** @throws only the signal's reason, when it aborts. */
export async function post(url: string, { id, body }: { id: string; body: string }, signal: AbortSignal, timeoutMs = TRY_MS): Promise<Delivery> {
  const { address, headers } = addressOf(url);
  try {
    return await abortable(async (limit) => {
      const response = await fetch(address, {
        method: 'POST', body, redirect: 'manual', signal: limit,
        headers: { 'content-type': 'application/json', 'user-agent': 'Leaseboard', 'idempotency-key': id, ...headers },
      });
      void response.body?.cancel().catch(() => undefined);
      return deliveryOf(response);
    }, timeoutMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TimeoutError) return { outcome: 'away', trouble: `did not answer within ${timeoutMs / 1000} s`, doubtful: true };
    const code = codeOf(error);
    return { outcome: 'away', trouble: `could not be reached${code ? ` (${code})` : ''}`, doubtful: !NOT_CONNECTED.includes(code ?? '') };
  }
}

/** What people and log lines may see of the address. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

function deliveryOf({ status, headers }: Response): Delivery {
  if (status < 300) return { outcome: 'taken' };
  if (isAway(status)) return { outcome: 'away', trouble: `answered ${status}`, doubtful: false, retryAfterMs: secondsOf(headers.get('retry-after')) };
  return { outcome: 'refused', trouble: status < 400 ? `answered ${status}, a redirect, which is not followed` : `refused with ${status}` };
}

/** A name and password in the address go into a header: fetch refuses them where they are. */
function addressOf(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url);
  const { username, password } = address;
  if (username === '' && password === '') return { address, headers: {} };
  address.username = address.password = '';
  return { address, headers: { authorization: `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}` } };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Seconds only; a date would need the clocks to agree. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
