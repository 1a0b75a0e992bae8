import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description: string;
  children: ReactNode;
}

export function Dialog({ open, onOpenChange, title, description, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content className="dialog">
          <div className="flex items-start justify-between gap-4">
            <Radix.Title className="dialog-title">{title}</Radix.Title>
            <Radix.Close className="btn quiet icon" aria-label="Close"><X aria-hidden /></Radix.Close>
          </div>
          <Radix.Description className="soft text-[13px] mb-3">{description}</Radix.Description>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
