/**
 * The way to another page, in the words of Remix's data requests (single fetch, turbo-stream). Sent with the status 401, so that a session
 * that ended in the middle of work leads its browser to the sign-in page instead of to an error. A test holds it against Remix's own.
 */
export function dataRedirect(path: string, options: { action: boolean; reload: boolean; revalidate?: boolean }): string {
  const lines: unknown[] = options.action ? [] : [['SingleFetchRedirect', 1]];
  const places = new Map<unknown, number>();
  const place = (value: unknown) => {
    if (!places.has(value)) places.set(value, lines.push(value) - 1);
    return places.get(value)!;
  };
  const members: Record<string, number> = {};
  lines.push(members);
  const redirect = { redirect: path, status: 302, revalidate: options.revalidate ?? false, reload: options.reload, replace: false };
  for (const [key, value] of Object.entries(redirect)) members[`_${place(key)}`] = place(value);
  return `${JSON.stringify(lines)}\n`;
}
