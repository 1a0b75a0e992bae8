import { toast, Toaster } from 'sonner';

/** Where finished things of the background are told. Text only. */
export default function Toasts() {
  return <Toaster position="bottom-right" toastOptions={{ unstyled: true, classNames: { toast: 'toast', actionButton: 'btn', closeButton: 'btn quiet icon' } }} />;
}

/** Stays until it is closed. */
export function announce(text: string, action: { label: string; onClick: () => void }): void {
  toast(text, { duration: Infinity, closeButton: true, action });
}
