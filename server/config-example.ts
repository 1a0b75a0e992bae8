import { settings } from './config-table.js';

const HEADER = `# Every setting with its default. Blank means default; durations are seconds, sizes bytes, unless the name says otherwise.
# The processes read their environment, not this file: node --env-file=.env, or whatever starts your containers, brings it in.
# Made from server/config-table.ts by npm run schema.
`;

/** The text of .env.example. */
export function exampleText(): string {
  const lines = Object.values(settings).map(({ env, about, fallback }) => `\n# ${about}\n${env}=${shown(fallback)}\n`);
  return `${HEADER}${lines.join('')}`;
}

function shown(fallback: unknown): string {
  if (fallback === undefined) return '';
  return Array.isArray(fallback) ? fallback.join(',') : String(fallback);
}
