import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { find } from '../../server/console/find.js';
import { isUnknown, parseSubject } from '../../server/console/find-subject.js';
import { journeyOptions } from '../../server/console/journey-options.js';
import { notFoundAnswer, readJourney } from '../../server/console/journey.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { FailurePage } from '~/components/failure-page';
import { FindPage, NoJourney } from '~/components/find-page';
import { Journey } from '~/components/journey';
import { JourneyAnswer } from '~/components/journey-answer';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction<typeof loader> = ({ data }) => [{ title: `${data?.answer?.text || 'Find'} · Leaseboard` }];

/** A hit that was chosen goes before the one that would be told by itself. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  const { name: operator } = requireOperator(context);
  const query = new URL(request.url).searchParams;
  const answer = await unlessTooSlow(find(context.world.kysely, query.get('q') ?? '', context.closed));
  const subject = parseSubject(query) ?? answer?.subject ?? null;
  const journey = subject && await unlessTooSlow(readJourney(context.world.kysely, subject, journeyOptions(context.world.config, query)));
  return { answer, subject, journey, unknown: answer && isUnknown(answer) && !subject ? notFoundAnswer() : null, operator };
}

export default function Find() {
  const { answer, subject, journey, unknown, operator } = useLoaderData<typeof loader>();
  if (!answer) return <SlowPage />;
  return (
    <FindPage answer={answer} subject={subject} operator={operator}>
      {journey ? <Journey view={journey} /> : subject ? <NoJourney /> : null}
      {unknown ? <JourneyAnswer view={{ answer: unknown, situation: 'not_found', step: null, timeZone: 'UTC' }} /> : null}
    </FindPage>
  );
}

export function ErrorBoundary() {
  return <FailurePage />;
}
