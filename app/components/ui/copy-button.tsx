import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button';

/** Shown as copied for so long (milliseconds). */
const SHOWN_MS = 1_600;

export function CopyButton({ text, label = 'Copy', className }: { text: string; label?: string; className?: string }) {
  const [said, setSaid] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => {
    if (!navigator.clipboard) return setSaid('refused');
    navigator.clipboard.writeText(text).then(() => setSaid('copied'), () => setSaid('refused'));
  };
  return (
    <Button className={className} onClick={copy}>
      {said === 'copied' ? <Check aria-hidden /> : <Copy aria-hidden />}
      <span aria-live="polite">{said === 'copied' ? 'Copied' : said === 'refused' ? 'Select and copy' : label}</span>
    </Button>
  );
}
