import { useLocation } from '@remix-run/react';
import { Banner } from './ui/banner';

/** Shown where a page's queries ran out of time. */
export function SlowPage() {
  const { pathname, search } = useLocation();
  return <Banner>The database did not answer within 3 s. Work goes on; only this page waits. <a className="link" href={`${pathname}${search}`}>Load it anew</a> in a moment, or narrow the filter.</Banner>;
}
