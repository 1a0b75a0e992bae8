import { Dialog as Radix } from 'radix-ui';
import clsx from 'clsx';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { onEarlyEscape } from '~/early-escape';

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: string;
  className?: string;
  /** What has the focus first; the close button if not given. */
  focusFirst?: string;
  /** What gets the focus back; without it the dialog's own trigger. */
  onClosed?: () => void;
  children: ReactNode;
}

export function Dialog({ open, onOpenChange, title, description, className, focusFirst, onClosed, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content className={clsx('dialog', className)} {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onOpenAutoFocus={focusFirst === undefined ? undefined : (event) => focusOn(event, focusFirst)} onCloseAutoFocus={onClosed} onKeyDown={onEarlyEscape(() => onOpenChange(false))}>
          <div className="flex items-start justify-between gap-4">
            <Radix.Title className="dialog-title">{title}</Radix.Title>
            <Radix.Close className="btn quiet icon" aria-label="Close"><X aria-hidden /></Radix.Close>
          </div>
          {description === undefined ? null : <Radix.Description className="soft text-[13px] mb-3">{description}</Radix.Description>}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function focusOn(event: Event, selector: string) {
  const wanted = (event.currentTarget as HTMLElement | null)?.querySelector<HTMLElement>(selector);
  if (!wanted) return;
  event.preventDefault();
  wanted.focus();
}
