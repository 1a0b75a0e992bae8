import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { retentionOf } from '../../server/console/settings-state.js';
import { Section } from '~/components/ui/section';
import { duration } from '~/format/age';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'Retention · Leaseboard' }];

export function loader({ context }: LoaderFunctionArgs) {
  requireRole(context, 'operator');
  return { kept: retentionOf(context.world.config) };
}

export default function Retention() {
  const { kept } = useLoaderData<typeof loader>();
  return (
    <Section title="Retention" aside="as this web process was started; changed by its environment">
      <div className="card table-wrap">
        <table className="table stack" aria-label="Retention">
          <thead><tr><th scope="col">What</th><th scope="col">How long</th><th scope="col">Setting</th></tr></thead>
          <tbody>
            {kept.map(({ what, howLong, seconds, setting }) => (
              <tr key={what}><td className="first wrap">{what}</td><td className="wrap">{howLong}{seconds === null ? null : <b> {duration(seconds * 1000)}</b>}</td><td data-label={setting ? 'setting' : undefined}>{setting ? <code>{setting}</code> : null}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
