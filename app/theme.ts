export type Theme = 'light' | 'dark' | 'system';

const COOKIE = 'lb_theme';
/** A year, in seconds. */
const MAX_AGE = 31_536_000;

/** The theme chosen in this browser. Read on the server, so that the first paint is already right. */
export function themeOf(cookies: string | null): Theme {
  const match = /(?:^|;\s*)lb_theme=(light|dark)(?:;|$)/.exec(cookies ?? '');
  return (match?.[1] as Theme | undefined) ?? 'system';
}

/** Applies a choice to this page at once and remembers it for the next. */
export function chooseTheme(theme: Theme): void {
  document.cookie = theme === 'system' ? `${COOKIE}=; Path=/; Max-Age=0; SameSite=Lax` : `${COOKIE}=${theme}; Path=/; Max-Age=${MAX_AGE}; SameSite=Lax`;
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
