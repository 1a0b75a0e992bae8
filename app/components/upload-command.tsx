import { CopyButton } from './ui/copy-button';

/** Ready to paste: everything but the token and the file is filled in. */
export function UploadCommand({ origin }: { origin: string }) {
  const command = [
    `curl -sS ${origin}/api/parse-sources \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    '  -F userId=u-1 -F sessionId=s-1 \\',
    '  -F "files[]=@paper.pdf;type=application/pdf"',
  ].join('\n');
  return (
    <div className="snippet">
      <pre tabIndex={0} aria-label="Upload command">{command}</pre>
      <CopyButton text={command} />
    </div>
  );
}
