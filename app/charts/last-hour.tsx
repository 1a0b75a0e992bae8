import { CartesianGrid, Line, LineChart, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { SeriesView } from '../../server/console/series.js';
import { markersOf } from './markers';
import { strokes } from './strokes';
import { duration } from '~/format/age';

interface Point {
  at: number;
  [queue: string]: number | null;
}

/** Labels stand above the plot, clear of its lines (pixels). */
const ABOVE = 16;

type Measure = 'ended' | 'waitP95';

export default function LastHourChart({ series: all }: { series: SeriesView }) {
  const series = { ...all, queues: busiestFirst(all.queues) };
  if (series.queues.length === 0) return <p className="dim chart-nothing">No work in the closed minutes of the last hour. The minute under way joins them soon after its end.</p>;
  return (
    <div className="chart-grid">
      <Panel series={series} measure="ended" title="Rows ended a minute" words={(value) => value.toLocaleString('en-GB')} />
      <Panel series={series} measure="waitP95" title="Wait before a worker took it, p95" words={duration} />
    </div>
  );
}

interface PanelProps {
  series: SeriesView;
  measure: Measure;
  title: string;
  words: (value: number) => string;
}

/** Queues in which nothing happened are not drawn; the busiest gets the strongest line. */
function busiestFirst(queues: SeriesView['queues']): SeriesView['queues'] {
  const ended = (queue: SeriesView['queues'][number]) => queue.points.reduce((sum, point) => sum + point.ended, 0);
  const busy = queues.filter((queue) => ended(queue) > 0 || queue.points.some((point) => point.waitP95 !== null));
  return busy.sort((a, b) => ended(b) - ended(a));
}

function Panel({ series, measure, title, words }: PanelProps) {
  return (
    <figure className="chart-panel">
      <figcaption><b>{title}</b><Legend series={series} /></figcaption>
      <ResponsiveContainer width="100%" height={168}>
        <LineChart data={pointsOf(series, measure)} margin={{ top: ABOVE + 6, right: 8, bottom: 0, left: 0 }} accessibilityLayer>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis dataKey="at" type="number" domain={['dataMin', series.asOf]} tickFormatter={minute} minTickGap={56} tick={tick} stroke="var(--line-2)" tickLine={false} />
          <YAxis width={54} tickFormatter={words} tick={tick} axisLine={false} tickLine={false} allowDecimals={measure !== 'ended'} />
          <Tooltip isAnimationActive={false} labelFormatter={(at) => minute(Number(at))} formatter={(value) => words(Number(value))} contentStyle={tooltip} />
          {markersOf(series).map(({ at, key, kind, label, side }) => (
            <ReferenceLine key={key} x={at} {...lines[kind]}
              label={label === '' ? undefined : { value: label, position: side === 'left' ? 'insideTopRight' : 'insideTopLeft', dy: -ABOVE - 5, fill: lines[kind].stroke, fontSize: 11 }} />
          ))}
          {series.queues.map((queue, index) => (
            <Line key={queue.slug} name={queue.title} dataKey={queue.slug} type="linear" dot={false} connectNulls isAnimationActive={false} strokeWidth={1.5} {...strokes[index]} />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </figure>
  );
}

/** A redeploy is a dashed line in amber, an operator's action a dotted one in ink: told apart by their dashes. */
const lines = { redeploy: { stroke: 'var(--low)', strokeDasharray: '3 3' }, action: { stroke: 'var(--ink-2)', strokeDasharray: '1 2' } } as const;

function Legend({ series }: { series: SeriesView }) {
  return (
    <span className="chart-legend">
      {series.queues.map((queue, index) => (
        <span key={queue.slug}>
          <svg width="24" height="6" aria-hidden="true"><path d="M0 3h24" strokeWidth="1.5" {...strokes[index]} /></svg>{queue.title}
        </span>
      ))}
      {(['redeploy', 'action'] as const).filter((kind) => series[`${kind}s`].length > 0).map((kind) => (
        <span key={kind}><svg width="8" height="12" aria-hidden="true"><path d="M4 0v12" strokeWidth="1.5" {...lines[kind]} /></svg>{kind === 'redeploy' ? 'redeploy' : 'operator action'}</span>
      ))}
    </span>
  );
}

const tick = { fontSize: 11, fill: 'var(--ink-3)' };
const tooltip = { background: 'var(--panel)', border: '1px solid var(--line-2)', borderRadius: 6, fontSize: 12.5, color: 'var(--ink)' };

function minute(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(at);
}

function pointsOf(series: SeriesView, measure: Measure): Point[] {
  const first = series.queues[0]?.points ?? [];
  return first.map(({ at }, index) => {
    const point: Point = { at };
    for (const queue of series.queues) point[queue.slug] = queue.points[index]?.[measure] ?? null;
    return point;
  });
}
