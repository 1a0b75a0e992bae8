import { isRouteErrorResponse, useRouteError } from '@remix-run/react';

/** What is true, and what to do next. Never a stack trace: details are in the log. */
export function FailurePage() {
  const error = useRouteError();
  const { title, text } = wordsFor(error);
  return (
    <div className="pt-2">
      <div className="empty" role="alert">
        <h1>{title}</h1>
        <p className="soft">{text}</p>
        <p><a className="link" href="/">Go to Now</a></p>
      </div>
    </div>
  );
}

function wordsFor(error: unknown): { title: string; text: string } {
  if (!isRouteErrorResponse(error)) {
    return { title: 'This page could not be shown', text: 'Something failed on the server; the log says what. Work is not affected: workers and their leases go on. Reload in a moment, and check that the database answers (npx leaseboard doctor).' };
  }
  if (error.status === 404) {
    const text = typeof error.data === 'string' && error.data !== '' ? error.data : 'There is no page at this address. It may have been mistyped, or the row may have been removed by retention.';
    return { title: 'Not here', text };
  }
  if (error.status === 503) return { title: 'The database did not answer in time', text: 'Work is not affected. Reload in a moment.' };
  if (error.status === 403) return { title: 'Not for your role', text: typeof error.data === 'string' ? error.data : 'Ask an admin.' };
  return { title: `The server answered ${error.status}`, text: typeof error.data === 'string' ? error.data : 'Reload in a moment.' };
}
