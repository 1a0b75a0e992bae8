/** Names of apps. One rule for all spellings: compatibility-normalised (NFKC), case-folded, then a DNS label of 1 to 63 characters or it is refused. */

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LENGTH = 63;

/** Names that would be taken for the hosting itself. */
const RESERVED = new Set([
  'www', 'api', 'admin', 'root', 'mail', 'smtp', 'imap', 'ftp', 'ns1', 'ns2', 'localhost', 'static', 'assets', 'cdn', 'status', 'login', 'auth',
  'account', 'accounts', 'billing', 'internal', 'system', 'healthz', 'metrics', 'leaseboard', 'orchestrator',
]);

export type ReadSlug = { slug: string } | { refused: 'reserved' | 'malformed'; why: string };

/** Pure. The same answer for every spelling that normalises to the same name; says nothing of what exists. */
export function readSlug(text: string): ReadSlug {
  const slug = text.normalize('NFKC').trim().toLowerCase().normalize('NFKC');
  if (slug.length > MAX_LENGTH || !LABEL.test(slug)) {
    return { refused: 'malformed', why: `it must have 1 to ${MAX_LENGTH} characters, letters a–z, digits and hyphens, and begin and end with a letter or digit` };
  }
  if (/^..--/.test(slug)) return { refused: 'reserved', why: 'names with two hyphens in third place are reserved for internationalised domain names' };
  return RESERVED.has(slug) ? { refused: 'reserved', why: 'it is a name that the hosting uses itself' } : { slug };
}
