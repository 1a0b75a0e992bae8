import { PassThrough } from 'node:stream';
import type { AppLoadContext, EntryContext } from '@remix-run/node';
import { createReadableStreamFromReadable } from '@remix-run/node';
import { RemixServer } from '@remix-run/react';
import { isbot } from 'isbot';
import { renderToPipeableStream } from 'react-dom/server';
import { NonceContext } from './nonce';

/** What Now shows under "needs attention", for whoever tells it outside (server/webhook): the same conditions, the same words. */
export { attentionOf } from './format/attention';

/** Single fetch gives up on deferred data after this; nothing here defers longer than a page query (milliseconds). */
export const streamTimeout = 10_000;

export default function handleRequest(request: Request, status: number, headers: Headers, remix: EntryContext, context: AppLoadContext) {
  if (status === 503) headers.set('Retry-After', '5'); // an outage that a loader met; see server/http/pages.ts
  const whole = isbot(request.headers.get('user-agent') ?? '') || remix.isSpaMode;
  const page = (
    <NonceContext.Provider value={context.nonce}>
      <RemixServer context={remix} url={request.url} nonce={context.nonce} />
    </NonceContext.Provider>
  );
  return new Promise<Response>((resolve, reject) => {
    let sent = false;
    const { pipe, abort } = renderToPipeableStream(page, {
      nonce: context.nonce,
      [whole ? 'onAllReady' : 'onShellReady']() {
        sent = true;
        const body = new PassThrough();
        headers.set('Content-Type', 'text/html; charset=utf-8');
        resolve(new Response(createReadableStreamFromReadable(body), { headers, status }));
        pipe(body);
      },
      onShellError: reject,
      onError(error) {
        status = 500;
        if (sent) context.world.log.error({ err: error }, 'page failed while it was being written');
      },
    });
    const timer = setTimeout(abort, streamTimeout + 1_000);
    context.closed.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

/** What a loader or an action throws. A closed connection is not an error. */
export function handleError(error: unknown, { request, context }: { request: Request; context: AppLoadContext }) {
  if (!request.signal.aborted && !context.closed.aborted) context.world.log.error({ err: error, path: new URL(request.url).pathname }, 'page failed');
}
