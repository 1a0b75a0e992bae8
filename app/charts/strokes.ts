/** The busiest queue in the blue of held work, the others in ink: told apart by their dashes, not by colour alone. One for each queue, however many have work. */
export const strokes = [
  { stroke: 'var(--held)' }, { stroke: 'var(--ink-2)', strokeDasharray: '4 3' }, { stroke: 'var(--ink-3)', strokeDasharray: '1 3' },
  { stroke: 'var(--ink-2)', strokeDasharray: '9 3 1 3' }, { stroke: 'var(--ink-3)', strokeDasharray: '14 4' },
] as const;
