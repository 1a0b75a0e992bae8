const HERE = 'http://local.invalid';

/**
 * Where to go after signing in: a path of this console, or `/` for anything else. Never another host: no scheme, no `//host`,
 * no backslash (browsers read it as a slash), no control characters, and not the sign-in page itself.
 */
export function localPath(wish: string | null | undefined): string {
  if (!wish || !wish.startsWith('/') || /[\\\u0000-\u001f\u007f]/.test(wish) || wish.length > 2000) return '/';
  const url = URL.canParse(wish, HERE) ? new URL(wish, HERE) : null;
  if (!url || url.origin !== HERE || url.pathname.startsWith('//') || /^\/signin(\/|\.|$)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
