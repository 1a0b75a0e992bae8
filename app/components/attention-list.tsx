import { Link } from '@remix-run/react';
import { ActionButton } from './action-button';
import { Shape } from './ui/shape';
import { OutsideName } from './names';
import { age } from '~/format/age';
import type { AttentionItem } from '~/format/attention';
import { fullInstant } from '~/format/instant';
import { useHydrated } from '~/hydrated';

/** What needs a person, each with what to do about it and when it heals by itself. */
export function AttentionList({ items, now }: { items: AttentionItem[]; now: number }) {
  return (
    <ul className="card attention">
      {items.map((item) => (
        <li key={item.key} className={`attention-item tone-${item.tone}`} data-attention={item.key.split(':')[0]}>
          <Shape name={item.tone === 'stale' ? 'alert' : 'ring'} />
          <div className="min-w-0">
            <p>
              <Subject item={item} />
              {item.why ? <span className="soft" suppressHydrationWarning> · {item.why}</span> : null}
            </p>
            <p className="dim text-[13px]">{item.advice}</p>
          </div>
          <Timer timer={item.timer} now={now} />
          <span className="attention-buttons">
            {item.order ? <ActionButton order={item.order} /> : null}
            {item.href ? <Link className="btn" discover="none" to={item.href}>Open<span className="visually-hidden">: {item.what}</span></Link> : null}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Subject({ item }: { item: AttentionItem }) {
  if (item.subject === null) return <b>{item.what}</b>;
  return <><b><OutsideName name={item.subject} width="32ch" /></b> <span className="dim">·</span> <b>{item.what}</b></>;
}

function Timer({ timer, now }: { timer: AttentionItem['timer']; now: number }) {
  const hydrated = useHydrated();
  if (!timer) return <span />;
  const left = timer.at - now;
  return (
    <span className="attention-timer" title={hydrated ? fullInstant(timer.at) : undefined} suppressHydrationWarning>
      {left > 0 ? `${timer.label} in ${age(left)}` : `${timer.label} due`}
    </span>
  );
}
