/** What a benchmark prints: medians with spread, and goals as ratios. Absolute figures are for reading, never for judging. */

export interface Goal { name: string; ratio: number; bar: string; met: boolean }
export interface Report { name: string; text: string; figures: Record<string, unknown>; goals: Goal[] }

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Half the distance between the extremes, as a share of the median: how noisy the machine was. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}

export function atLeast(name: string, ratio: number, bar: number): Goal {
  return { name, ratio, bar: `≥ ${bar}`, met: ratio >= bar };
}

export function atMost(name: string, ratio: number, bar: number): Goal {
  return { name, ratio, bar: `≤ ${bar}`, met: ratio <= bar };
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ').trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

export function goalTable(goals: readonly Goal[]): string {
  return table(['goal', 'ratio', 'bar', ''], goals.map((goal) => [goal.name, goal.ratio.toFixed(2), goal.bar, goal.met ? 'met' : 'MISSED']));
}
