import type { Response } from 'express';

/** A refusal or failure as RFC 9457 problem+json. `detail` says what is true and what to do next; `code` is stable. */
export class Problem extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    more: { headers?: Record<string, string>; extra?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(`${code}: ${detail}`, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'Problem';
    this.headers = more.headers ?? {};
    this.extra = more.extra ?? {};
  }

  get title(): string {
    const words = this.code.replaceAll('_', ' ');
    return words.charAt(0).toUpperCase() + words.slice(1);
  }

  /** The members of the answer. `type` names the code; it is an identifier, not a page. */
  body(): Record<string, unknown> {
    return {
      type: `urn:leaseboard:problem:${this.code}`,
      title: this.title,
      status: this.status,
      detail: this.detail,
      code: this.code,
      ...this.extra,
    };
  }
}

/** Sends the problem, unless the response was begun already or its connection is gone. */
export function sendProblem(res: Response, problem: Problem): void {
  if (res.headersSent || res.destroyed) return;
  res.status(problem.status);
  res.set(problem.headers);
  res.set('Cache-Control', 'no-store');
  res.type('application/problem+json').send(JSON.stringify(problem.body()));
}
