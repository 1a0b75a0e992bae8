import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { useId } from 'react';

type Props = ComponentPropsWithoutRef<'input'> & { label: string; hint?: ReactNode };

/** A labelled line of text; what it expects is said before it is filled in. */
export function TextField({ label, hint, ...props }: Props) {
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      <input id={id} className="field" aria-describedby={hint ? `${id}-hint` : undefined} {...props} />
      {hint ? <span id={`${id}-hint`} className="dim">{hint}</span> : null}
    </div>
  );
}
