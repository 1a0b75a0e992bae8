import clsx from 'clsx';
import type { ComponentPropsWithoutRef } from 'react';
import { forwardRef } from 'react';

type Props = ComponentPropsWithoutRef<'button'> & { look?: 'plain' | 'primary' | 'quiet'; icon?: boolean };

export const Button = forwardRef<HTMLButtonElement, Props>(function Button({ look = 'plain', icon = false, className, ...props }, ref) {
  return <button ref={ref} type="button" className={clsx('btn', look !== 'plain' && look, icon && 'icon', className)} {...props} />;
});
