import { useRouteLoaderData } from '@remix-run/react';
import { age } from '~/format/age';
import { barred, type Rights } from '~/format/possible';
import { useFeed, useNow } from '~/live/use-live';
import type { loader as consoleLoader } from '~/routes/_console';

/** What the signed-in person may do, as the console was loaded; the server decides anew at each request. */
export function useRights(): Rights {
  return useRouteLoaderData<typeof consoleLoader>('routes/_console')!.rights;
}

/** Why a button of this action is of no use now, whatever the row: the role, the setting, or a page too old to act on. */
export function useWhyNot(action: string): string | null {
  const rights = useRights();
  const stale = useStaleWords();
  return barred(rights, action) ?? stale;
}

/** More than 15 s without a successful read: nothing is done from this page until it has read again. Null while it is fresh. */
export function useStaleWords(): string | null {
  const { stale, asOf } = useFeed();
  const now = useNow();
  return stale ? `Nothing could be read for ${age(now - asOf)}, so this page may be wrong. Wait until it has caught up, which it does by itself.` : null;
}
