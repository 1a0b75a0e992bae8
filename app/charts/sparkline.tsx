const WIDTH = 150;
const HEIGHT = 22;

/** A row of numbers as one line, oldest left, from zero to its own maximum. Drawn in place: no chart library. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const top = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(HEIGHT - 1.5 - (value / top) * (HEIGHT - 4)).toFixed(1)}`);
  const sum = values.reduce((total, value) => total + value, 0);
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}: ${sum} in all, at most ${Math.max(0, ...values)}`}>
      <path d={`M0,${HEIGHT - 1.5}H${WIDTH}`} stroke="var(--line)" strokeWidth="1" />
      {sum > 0 ? <polyline points={points.join(' ')} fill="none" stroke="var(--held)" strokeWidth="1.5" strokeLinejoin="round" /> : null}
    </svg>
  );
}
