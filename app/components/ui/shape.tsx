import type { ReactNode } from 'react';
import type { Shape as Name } from '~/format/state';

const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.6, strokeLinecap: 'round', strokeLinejoin: 'round' } as const;

/** Told apart by outline alone, in ten pixels. */
const shapes: Record<Name, ReactNode> = {
  ring: <circle cx="5" cy="5" r="3.8" {...line} strokeDasharray="2.4 2.2" />,
  box: <rect x="1.2" y="1.2" width="7.6" height="7.6" rx="2" {...line} />,
  block: <rect x="0.5" y="0.5" width="9" height="9" rx="2.2" fill="currentColor" />,
  alert: <path d="M5 .2 10 9.4H0Z" fill="currentColor" />,
  tick: <path d="m1 5.4 2.7 2.7L9 1.9" {...line} />,
  cross: <path d="m1.6 1.6 6.8 6.8m0-6.8-6.8 6.8" {...line} />,
  dash: <path d="M1.2 5h7.6" {...line} />,
};

export function Shape({ name }: { name: Name }) {
  return <svg className="state-shape" viewBox="0 0 10 10" aria-hidden="true">{shapes[name]}</svg>;
}
