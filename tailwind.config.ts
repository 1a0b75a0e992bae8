import type { Config } from 'tailwindcss';

/** Names for the tokens of app/styles/tokens.css. Colour carries state and nothing else; there is one accent. */
const token = (name: string) => `var(--${name})`;

export default {
  content: ['./app/**/*.{ts,tsx}'],
  theme: {
    extend: {
      colors: {
        paper: token('paper'), panel: token('panel'), line: token('line'), 'line-2': token('line-2'),
        ink: token('ink'), 'ink-2': token('ink-2'), 'ink-3': token('ink-3'),
        accent: token('accent'), 'accent-soft': token('accent-soft'),
        waiting: token('waiting'), held: token('held'), low: token('low'), 'low-soft': token('low-soft'),
        stale: token('stale'), 'stale-soft': token('stale-soft'), done: token('done'),
      },
      fontFamily: { sans: token('sans'), mono: token('mono') },
    },
  },
} satisfies Config;
