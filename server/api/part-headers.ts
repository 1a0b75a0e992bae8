/** What the headers of a multipart part say. Header text arrives as latin1, one character a byte; names in it are UTF-8. */
export interface PartHead {
  /** The form field, undefined when the part does not name one. */
  name: string | undefined;
  /** As sent; undefined when the part is no file. */
  filename: string | undefined;
  contentType: string;
}

/** One `; key=value` of a header: quoted (with backslashes before quotes and backslashes) or bare. */
const PARAMETER = /;\s*([\w!#$%&'+.^`|~*-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^;]*))/g;

/** Null when the part is not `form-data`. A `filename*` wins over a `filename`: senders add it when the plain one cannot say the name. */
export function readPartHead(headers: Record<string, string[] | undefined>): PartHead | null {
  const disposition = headers['content-disposition']?.[0] ?? '';
  if (!/^form-data\s*(;|$)/i.test(disposition)) return null;
  const parameters = readParameters(disposition);
  return {
    name: parameters.get('name'),
    filename: parameters.get('filename*') ?? parameters.get('filename'),
    contentType: (headers['content-type']?.[0] ?? '').split(';', 1)[0]!.trim().toLowerCase(),
  };
}

/** The boundary in a Content-Type, undefined when there is none that could be one. */
export function readBoundary(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*;/i.test(contentType ?? '')) return undefined;
  const boundary = readParameters(contentType ?? '').get('boundary');
  return boundary && boundary.length <= 200 ? boundary : undefined;
}

function readParameters(header: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, key, quoted, bare] of header.matchAll(PARAMETER)) {
    const name = key!.toLowerCase();
    const value = quoted === undefined ? bare!.trim() : quoted.replace(/\\(["\\])/g, '$1');
    if (!found.has(name)) found.set(name, name.endsWith('*') ? decodeExtended(value) : utf8(Buffer.from(value, 'latin1')));
  }
  return found;
}

/** RFC 8187: charset'language'percent-encoded. */
function decodeExtended(value: string): string {
  const [, charset, encoded] = /^([^']*)'[^']*'([\s\S]*)$/.exec(value) ?? [undefined, 'utf-8', value];
  const bytes = Buffer.from(encoded!.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))), 'latin1');
  return /^iso-8859-1$/i.test(charset!) ? bytes.toString('latin1') : utf8(bytes);
}

/** Bytes that are no UTF-8 become U+FFFD. */
function utf8(bytes: Buffer): string {
  return bytes.toString('utf8');
}
