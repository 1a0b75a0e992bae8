import { useFetcher } from '@remix-run/react';
import type { RebuildAnswer } from '../../server/console/session-rebuild.js';
import { Button } from './ui/button';
import { rebuildWords } from '~/format/session-words';

/** Tried, not computed: an index is built from what is persisted and thrown away. */
export function SessionRebuild({ sessionId, userId }: { sessionId: string; userId: string }) {
  const fetcher = useFetcher<RebuildAnswer | { outcome: 'failed' }>();
  const busy = fetcher.state !== 'idle';
  const words = busy || !fetcher.data ? null : rebuildWords(fetcher.data);
  return (
    <fetcher.Form method="post" action={`/sessions/${encodeURIComponent(sessionId)}/rebuild?user=${encodeURIComponent(userId)}`} className="session-trial">
      <Button type="submit" disabled={busy}>{busy ? 'Building …' : words ? 'Try again' : 'Try it now'}</Button>
      <p role="status" data-trial={words?.outcome}>{words ? <><b className={words.bad ? 'tone-text-stale' : undefined}>{words.text}</b> <span className="soft">{words.detail}</span></> : null}</p>
    </fetcher.Form>
  );
}
