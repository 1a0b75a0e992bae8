import { Form, Link, useSubmit } from '@remix-run/react';
import clsx from 'clsx';
import { X } from 'lucide-react';
import type { AuditFilters } from '../../server/console/audit-filters.js';
import { Shape } from './ui/shape';
import { actionWords } from '~/format/action-words';
import { auditPath, isAuditFiltered, minuteOf, withAuditFilter } from '~/format/audit-words';

interface Props {
  filters: AuditFilters;
  actions: string[];
  queues: { slug: string; title: string }[];
}

/** Every filter lives in the URL: links for the outcome, one form for the rest. */
export function AuditFilterBar({ filters, actions, queues }: Props) {
  const submit = useSubmit();
  return (
    <div className="filter-bar" role="search" aria-label="Filter the audit">
      <div className="chips">
        <Outcome outcome="applied" filters={filters} /><Outcome outcome="refused" filters={filters} />
        {filters.bulk !== null ? <Link className="chip on" discover="none" to={auditPath(withAuditFilter(filters, { bulk: null }))}><span>one bulk action</span><X size={13} aria-label="remove" /></Link> : null}
        {isAuditFiltered(filters) ? <Link className="link" to="/audit">Clear the filters</Link> : null}
      </div>
      <Form method="get" action="/audit" className="chips audit-form" key={auditPath({ ...filters, before: null, after: null })} onChange={(event) => event.target instanceof HTMLSelectElement && submit(event.currentTarget)}>
        {filters.outcome === null ? null : <input type="hidden" name="outcome" value={filters.outcome} />}
        {filters.bulk === null ? null : <input type="hidden" name="bulk" value={filters.bulk} />}
        <Field label="Who" name="actor" value={filters.actor} placeholder="name" filterBox />
        <Pick label="Action" name="action" value={filters.action} options={actions.map((name) => [name, actionWords(name).label])} />
        <Pick label="Queue" name="queue" value={filters.queue} options={queues.map(({ slug, title }) => [slug, title])} />
        <Field label="On what" name="target" value={filters.target} placeholder="whole id" />
        <Minute label="From (UTC)" name="from" value={filters.from} /><Minute label="To (UTC)" name="to" value={filters.to} />
        <button type="submit" className="btn">Filter</button>
      </Form>
    </div>
  );
}

function Outcome({ outcome, filters }: { outcome: 'applied' | 'refused'; filters: AuditFilters }) {
  const on = filters.outcome === outcome;
  return (
    <Link className={clsx('chip', on && 'on', outcome === 'applied' ? 'tone-done' : 'tone-low')} aria-current={on ? 'true' : undefined} discover="none" preventScrollReset data-chip={outcome}
      to={auditPath(withAuditFilter(filters, { outcome: on ? null : outcome }))}>
      <Shape name={outcome === 'applied' ? 'tick' : 'dash'} />{outcome}
    </Link>
  );
}

function Field({ label, name, value, placeholder, filterBox = false }: { label: string; name: string; value: string | null; placeholder: string; filterBox?: boolean }) {
  return <label className="audit-field"><span className="dim">{label}</span><input className="field" name={name} defaultValue={value ?? ''} placeholder={placeholder} maxLength={300} autoComplete="off" spellCheck={false} data-filter-box={filterBox || undefined} /></label>;
}

function Minute({ label, name, value }: { label: string; name: string; value: number | null }) {
  return <label className="audit-field"><span className="dim">{label}</span><input className="field" type="datetime-local" name={name} defaultValue={value === null ? '' : minuteOf(value)} /></label>;
}

function Pick({ label, name, value, options }: { label: string; name: string; value: string | null; options: [string, string][] }) {
  return (
    <label className="audit-field"><span className="dim">{label}</span>
      <select className="field" name={name} defaultValue={value ?? ''}>
        <option value="">any</option>
        {value !== null && options.every(([key]) => key !== value) ? <option value={value}>{value}</option> : null}
        {options.map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      </select>
    </label>
  );
}
