import { Banner } from './ui/banner';

/** Shown where a page's queries ran out of time. */
export function SlowPage() {
  return <div className="page"><Banner>The database did not answer within 3 s. Work goes on; only this page waits. Reload in a moment, or narrow the filter.</Banner></div>;
}
