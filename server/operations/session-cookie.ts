import { TRANSACTION_SECONDS } from './provider-sign-in.js';
import { SESSION_MAX_HOURS } from './sessions.js';

export const SESSION_COOKIE = 'lb_session';
const TRANSACTION_COOKIE = 'lb_oidc';

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

/** The Set-Cookie value that keeps a sealed sign-in transaction until the person comes back from the provider. */
export function transactionCookie(config: Where, sealed: string): string {
  return `${TRANSACTION_COOKIE}=${sealed}; Max-Age=${TRANSACTION_SECONDS}; ${attributes(config, '/signin')}`;
}

/** The Set-Cookie value that removes it: a transaction is good for one return. */
export function clearedTransactionCookie(config: Where): string {
  return `${TRANSACTION_COOKIE}=; Max-Age=0; ${attributes(config, '/signin')}`;
}

/** The sealed transaction in a Cookie header, or undefined. */
export function transactionFromCookies(header: string | undefined): string | undefined {
  return new RegExp(`(?:^|;)\\s*${TRANSACTION_COOKIE}=([\\w-]{40,4000})\\s*(?:;|$)`).exec(header ?? '')?.[1];
}

function attributes(config: Where, path = '/'): string {
  const secure = config.publicUrl?.startsWith('https:') ? '; Secure' : '';
  return `Path=${path}; HttpOnly; SameSite=Lax${secure}`;
}
