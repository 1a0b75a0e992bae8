import { Suspense, type ReactNode } from 'react';
import { useHydrated } from '~/hydrated';

/**
 * For what is fetched once the page is usable. Nothing of it is in the document that the server sends: a part that is still to be made alive
 * would be thrown away by the first tick of a clock.
 */
export function Later({ children, meanwhile = null }: { children: ReactNode; meanwhile?: ReactNode }) {
  return useHydrated() ? <Suspense fallback={meanwhile}>{children}</Suspense> : meanwhile;
}
