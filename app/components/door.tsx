import type { ReactNode } from 'react';
import { Mark } from './rail';

/** The frame of the sign-in pages. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="door" id="content">
      <div className="card door-card">
        <div className="flex items-center gap-2 font-semibold"><Mark />Leaseboard</div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
