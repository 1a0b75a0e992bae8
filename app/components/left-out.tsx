import { Link, useLocation } from '@remix-run/react';
import { Shape } from './ui/shape';
import { leftOut } from '~/format/left-out';

/** Under a list's filters: what its address asks for in vain. Else whoever mistyped a filter would take the whole list for what fits it. */
export function LeftOut({ understood }: { understood: string }) {
  const { pathname, search } = useLocation();
  const parts = leftOut(new URLSearchParams(search), understood);
  if (parts.length === 0) return null;
  return (
    <p className="left-out tone-low" role="status" data-left-out={parts.map(([name]) => name).join(' ')}>
      <Shape name="alert" />
      <span>Not filtered by {parts.map(([name, value], n) => <span key={`${name} ${n}`}>{n > 0 ? ', ' : ''}<bdi className="mono wrap-anywhere">{name}:{value}</bdi></span>)}: this list does not know {parts.length === 1 ? 'it' : 'them'}.{parts.some(([name]) => name === 'older' || name === 'newer') ? ' An age reads 90s, 5m, 2h or 1d.' : ''} <Link className="link" discover="none" to={`${pathname}${understood}`} replace>Take {parts.length === 1 ? 'it' : 'them'} out of the address</Link></span>
    </p>
  );
}
