import { SESSION_MAX_HOURS } from './sessions.js';

export const SESSION_COOKIE = 'lb_session';

type Where = { publicUrl?: string };

/** The Set-Cookie value that keeps a session's secret in the browser, out of reach of scripts. */
export function sessionCookie(config: Where, session: string): string {
  return `${SESSION_COOKIE}=${session}; Max-Age=${SESSION_MAX_HOURS * 3600}; ${attributes(config)}`;
}

/** The Set-Cookie value that removes it. */
export function clearedSessionCookie(config: Where): string {
  return `${SESSION_COOKIE}=; Max-Age=0; ${attributes(config)}`;
}

/** The secret in a Cookie header, or undefined. Anything that we could not have issued counts as absent. */
export function sessionFromCookies(header: string | undefined): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === SESSION_COOKIE && value && /^[\w-]{43}$/.test(value)) return value;
  }
  return undefined;
}

function attributes(config: Where): string {
  const secure = config.publicUrl?.startsWith('https:') ? '; Secure' : '';
  return `Path=/; HttpOnly; SameSite=Lax${secure}`;
}
