/** The product's backend as a client of its public API: one call, or a call that is sent again under the same key until it is answered. */
import { setTimeout as pause } from 'node:timers/promises';

export interface Answer {
  status: number;
  body: Record<string, unknown> & { code?: string };
}

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  /** JSON, or the fields and files of a form. */
  body?: unknown;
  form?: { fields: Record<string, string>; files: readonly { name: string; bytes: Buffer }[] };
  /** Idempotency-Key: makes it safe to send the call again. */
  key?: string;
}

export interface ClientOptions {
  /** Addresses of the web processes that are up, the best to ask first. */
  addresses: () => readonly string[];
  token: string;
  /** One try (ms). */
  limitMs: number;
  /** Between two tries (ms). */
  pauseMs: number;
}

export class Client {
  /** Calls that were cut off or refused with 5xx, and were sent again. */
  sentAgain = 0;
  private turn = 0;

  constructor(private readonly options: ClientOptions) {}

  /** @returns undefined when nothing came back: it may have been carried out or not. */
  async once(call: Call, address: string): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${address}${call.path}`, {
        method: call.method, signal: AbortSignal.timeout(this.options.limitMs),
        headers: {
          authorization: `Bearer ${this.options.token}`, ...(call.key ? { 'idempotency-key': call.key } : {}), ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(call.form ? { body: formOf(call.form) } : call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      return { status: response.status, body: await response.json() as Answer['body'] };
    } catch {
      return undefined;
    }
  }

  /** As any backend does: no answer and 5xx are asked again, of whoever is up; 429 waits. @throws when `giveUp` says so. */
  async insist(call: Call, giveUp: () => boolean): Promise<Answer> {
    for (;;) {
      const address = this.next();
      const answer = address && await this.once(call, address) || undefined;
      if (answer && answer.status < 500 && answer.status !== 429) return answer;
      if (giveUp()) throw new Error(`expected an answer to ${call.method} ${call.path}, got ${answer ? `${answer.status} ${answer.body.code}` : 'none'}`);
      if (address && answer?.status !== 429) this.sentAgain += 1;
      await pause(this.options.pauseMs);
    }
  }

  /** Asks until `wanted` says of an answer that it is the one. */
  async poll<T>(path: string, everyMs: number, wanted: (answer: Answer) => T | undefined, giveUp: () => boolean): Promise<T> {
    for (;;) {
      const found = wanted(await this.insist({ method: 'GET', path }, giveUp));
      if (found !== undefined) return found;
      if (giveUp()) throw new Error(`expected the end of ${path}, got none`);
      await pause(everyMs);
    }
  }

  private next(): string | undefined {
    const addresses = this.options.addresses();
    return addresses[this.turn++ % Math.max(1, addresses.length)];
  }
}

function formOf({ fields, files }: NonNullable<Call['form']>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const { name, bytes } of files) form.append('files', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), name);
  return form;
}
