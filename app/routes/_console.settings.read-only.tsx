import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Section } from '~/components/ui/section';
import { Shape } from '~/components/ui/shape';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'Read-only · Leaseboard' }];

export function loader({ context }: LoaderFunctionArgs) {
  requireRole(context, 'operator');
  return { readOnly: context.world.config.readOnly };
}

export default function ReadOnly() {
  const { readOnly } = useLoaderData<typeof loader>();
  return (
    <Section title="Read-only" aside="READ_ONLY, as this web process was started">
      <div className="card settings-card grid gap-2">
        <p>{readOnly ? <span className="state tone-low"><Shape name="alert" />This console is read-only: every action is refused, and the attempt is kept in the audit.</span> : <span className="state tone-done"><Shape name="tick" />Actions are possible, as far as each role may.</span>}</p>
        <p className="soft">To change it, set <code>READ_ONLY={readOnly ? 'false' : 'true'}</code> and restart the web processes. It is about this console alone: signing in and out, the product API, workers and sweeps go on as always, and <code>npx leaseboard …</code> on the server still acts.</p>
      </div>
    </Section>
  );
}
