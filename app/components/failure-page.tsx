import { isRouteErrorResponse, useLocation, useRouteError } from '@remix-run/react';
import { useReRead } from '~/re-read';

/** Between one try to read the page again and the next (milliseconds), while the database is away. */
const AGAIN_MS = 5_000;

/** What is true, and what to do next. Never a stack trace: details are in the log. */
export function FailurePage() {
  const error = useRouteError();
  const { pathname, search } = useLocation();
  const away = isOutage(error);
  useReRead(away ? AGAIN_MS : null);
  const { title, text } = away ? AWAY : wordsFor(error);
  return (
    <div className="pt-2">
      <div className="empty failure" role="alert">
        <h1>{title}</h1>
        <p className="soft">{text}</p>
        <p className="flex gap-4"><a className="link" href={`${pathname}${search}`}>Load it anew</a>{isRouteErrorResponse(error) && error.status === 404 ? <a className="link" href="/find">Search for it</a> : null}<a className="link" href="/">Go to Now</a></p>
      </div>
    </div>
  );
}

const AWAY = {
  title: 'No answer right now',
  text: `The database, or this server, does not answer, answers too slowly, or refuses connections. This page asks again by itself every ${AGAIN_MS / 1000} s; if it stays so, npx leaseboard doctor says what to check.`,
};

/** Said by a loader (503); or the answer was none of Remix's, since none came or the door in front of Remix could not ask the database. */
function isOutage(error: unknown): boolean {
  if (isRouteErrorResponse(error)) return error.status === 503;
  return error instanceof Error && !isOldScript(error) && /decode turbo-stream|failed to fetch|networkerror|load failed/i.test(error.message);
}

/** A part of the page that is fetched when it is needed is not there any more: the page is of a version before. */
function isOldScript(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script/i.test(error.message);
}

function wordsFor(error: unknown): { title: string; text: string } {
  if (isOldScript(error)) return { title: 'This page is of another version', text: 'A part of it could not be fetched: most likely another version of this console was rolled out meanwhile. Load the page anew.' };
  if (!isRouteErrorResponse(error)) {
    return { title: 'This page could not be shown', text: 'Something failed on the server; the log says what. Work is not affected: workers and their leases go on. Reload in a moment, and check that the database answers (npx leaseboard doctor).' };
  }
  if (error.status === 404) {
    const text = typeof error.data === 'string' && error.data !== '' ? error.data : 'There is no page at this address. It may have been mistyped, or the row may have been removed by retention.';
    return { title: 'Not here', text };
  }
  if (error.status === 403) return { title: 'Not for your role', text: typeof error.data === 'string' ? error.data : 'Ask an admin.' };
  return { title: `The server answered ${error.status}`, text: typeof error.data === 'string' ? error.data : 'Reload in a moment.' };
}
