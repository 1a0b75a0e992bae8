/** One HTTP call to the orchestrator with its limits: time, size, tries. Only what may help is tried again: no answer, 429, 5xx. */
import { OutsideError } from '../lease/errors.js';
import { pauseFor } from './pause.js';

export interface Limits {
  url: string;
  token: string | undefined;
  timeoutMs: number;
  tries: number;
  pauseMs: number;
}

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  signal: AbortSignal;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  text: string;
}

/** No answer of this API is longer (bytes). */
const MAX_ANSWER = 64 * 1024;
/** A Retry-After is heeded up to here (ms) within one call; beyond it the queue rests instead. */
const LONGEST_PAUSE_MS = 5_000;

/** @throws OutsideError after the last try; the signal's reason when it aborts. Anything below 500 but 429 is an answer. */
export async function request(limits: Limits, call: Call): Promise<Answer> {
  for (let tried = 1; ; tried++) {
    const outcome = await once(limits, call);
    if ('status' in outcome) return outcome;
    if (tried >= limits.tries || (outcome.retryAfterMs ?? 0) > LONGEST_PAUSE_MS) {
      throw new OutsideError('orchestrator_unavailable', `The orchestrator ${outcome.trouble}.`, outcome.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.retryAfterMs });
    }
    await pauseFor(Math.max(outcome.retryAfterMs ?? 0, limits.pauseMs * 2 ** (tried - 1) * (0.5 + Math.random())), call.signal);
  }
}

type Outcome = Answer | { trouble: string; retryAfterMs?: number | undefined };

async function once(limits: Limits, { method, path, signal, body, headers }: Call): Promise<Outcome> {
  signal.throwIfAborted();
  const limit = new AbortController();
  const abort = () => limit.abort(signal.reason);
  const timer = setTimeout(() => limit.abort(new Error('timeout')), limits.timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const response = await fetch(new URL(path.replace(/^\//, ''), withSlash(limits.url)), {
      method, signal: limit.signal, redirect: 'error',
      headers: {
        accept: 'application/json', ...(limits.token ? { authorization: `Bearer ${limits.token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await readText(response);
    if (response.status !== 429 && response.status < 500) return { status: response.status, text };
    return { trouble: `answered ${response.status}`, retryAfterMs: retryAfter(response.headers.get('retry-after')) };
  } catch {
    signal.throwIfAborted();
    return { trouble: limit.signal.aborted ? `did not answer within ${limits.timeoutMs} ms` : 'could not be reached' };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Paths are added to the URL's own, so that an orchestrator may live below one. */
function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return '';
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MAX_ANSWER) throw new Error('too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Seconds only; a date would need the clocks to agree. */
function retryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}
