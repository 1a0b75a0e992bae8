import { Link } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { AuditEntry } from '../../server/console/audit.js';
import type { AuditFilters } from '../../server/console/audit-filters.js';
import { Age, Instant } from './age';
import { OutsideId } from './names';
import { Shape } from './ui/shape';
import { actionWords, changesOf, factsOf, refusalWord } from '~/format/action-words';
import { auditPath, auditTarget, viaWords, withAuditFilter } from '~/format/audit-words';
import type { Reading } from '~/reading';

export function AuditTable({ entries, filters, watch }: { entries: AuditEntry[]; filters: AuditFilters; watch: Reading['watch'] }) {
  return (
    <div className="card table-wrap" {...watch}>
      <table className="table stack audit-table" aria-label="Audit">
        <thead><tr><th scope="col">Outcome</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">On what</th><th scope="col">Why, and the answer</th><th scope="col" className="r">When</th></tr></thead>
        <tbody>{entries.map((entry) => <Entry key={entry.id} entry={entry} filters={filters} />)}</tbody>
      </table>
    </div>
  );
}

function Entry({ entry, filters }: { entry: AuditEntry; filters: AuditFilters }) {
  const applied = entry.outcome === 'applied';
  return (
    <tr data-entry={entry.id} data-outcome={entry.outcome} data-refusal={entry.refusal ?? undefined}>
      <td className="mark"><span className={`state tone-${applied ? 'done' : 'low'}`}><Shape name={applied ? 'tick' : 'dash'} />{entry.outcome}</span>{entry.refusal ? <p className="soft">{refusalWord(entry.refusal)}</p> : null}</td>
      <td><Link className="quiet-link" discover="none" to={auditPath(withAuditFilter(filters, { actor: entry.actor }))}><bdi>{entry.actor}</bdi></Link><p className="dim">{entry.actorRole}, {viaWords(entry.via)}</p></td>
      <td className="first"><Link className="quiet-link" discover="none" to={auditPath(withAuditFilter(filters, { action: entry.action }))}>{actionWords(entry.action).label}</Link>{entry.bulkId ? <p><Link className="link" discover="none" to={auditPath({ bulk: entry.bulkId })}>whole bulk action</Link></p> : null}</td>
      <td><OnWhat entry={entry} filters={filters} /></td>
      <td className="audit-text">
        {entry.reason ? <p><bdi>“{entry.reason}”</bdi></p> : <p className="dim">no reason given</p>}
        <p className="soft"><bdi>{entry.answer}</bdi></p>
        <Difference entry={entry} />
      </td>
      <td className="r" data-label="when"><Age at={entry.at} suffix=" ago" /></td>
    </tr>
  );
}

function OnWhat({ entry, filters }: { entry: AuditEntry; filters: AuditFilters }) {
  const { kind, name, href } = auditTarget(entry);
  const id = <OutsideId id={name} width="22ch" />;
  return (
    <>
      <span className="dim">{kind} </span>{href ? <Link className="row-link" discover="none" to={href} title={entry.targetId}>{id}</Link> : id}
      {filters.target === null ? <p><Link className="quiet-link dim" discover="none" to={auditPath({ target: entry.targetId })}>all on this</Link></p> : null}
    </>
  );
}

/** What changed; for a refused attempt, how it stood. */
function Difference({ entry }: { entry: AuditEntry }) {
  const changes = entry.outcome === 'applied' ? changesOf(entry.before, entry.after) : [];
  const context = factsOf(entry.before).filter(({ key }) => changes.every((change) => change.key !== key));
  if (changes.length === 0 && context.length === 0) return null;
  return (
    <details className="more audit-diff">
      <summary>{entry.outcome === 'applied' ? 'Before and after' : 'As it stood'}</summary>
      <dl>
        {changes.map(({ key, name, before, after }) => <Line key={key} name={name}>{before === null ? null : <><del><bdi>{before}</bdi></del> → </>}<ins><bdi>{after ?? 'none'}</bdi></ins></Line>)}
        {context.map(({ key, name, text }) => <Line key={key} name={name}><bdi className="soft">{text}</bdi></Line>)}
        <Line name="At"><Instant at={entry.at} /></Line>
      </dl>
    </details>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}
