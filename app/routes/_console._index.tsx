import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useRouteLoaderData } from '@remix-run/react';
import { AttentionList } from '~/components/attention-list';
import { DrainBoards } from '~/components/drain-board';
import { LastHour } from '~/components/last-hour';
import { NothingYet } from '~/components/nothing-yet';
import { QueueSummary } from '~/components/queue-summary';
import { Section } from '~/components/ui/section';
import { VerdictLine } from '~/components/verdict-line';
import { attentionOf } from '~/format/attention';
import { verdictOf } from '~/format/verdict';
import { useFeed, useLiveView, useNow } from '~/live/use-live';
import { requireOperator } from '~/require-operator.server';
import type { NowView } from '../../server/console/now.js';
import type { loader as consoleLoader } from './_console';

export const meta: MetaFunction = () => [{ title: 'Now · Leaseboard' }];

export function loader({ context }: LoaderFunctionArgs) {
  requireOperator(context);
  return null;
}

export default function Now() {
  const { now: loaded, origin } = useRouteLoaderData<typeof consoleLoader>('routes/_console')!;
  const view = useLiveView<NowView>('summary', loaded!);
  const now = useNow();
  const feed = useFeed();
  const items = attentionOf(view, now, feed);
  const used = view.queues.some((queue) => queue.used);
  return (
    <>
      <VerdictLine verdict={verdictOf(view, items, now, feed)} />
      {items.length > 0 ? <Section title="Needs attention"><AttentionList items={items} now={now} /></Section> : null}
      <DrainBoards boards={view.boards} now={now} asOf={view.asOf} without="gaps" />
      {used ? null : <NothingYet origin={origin} />}
      <Section title="Queues" aside="failed, wait and run: last hour"><QueueSummary queues={view.queues} /></Section>
      {used ? <LastHour /> : null}
    </>
  );
}
