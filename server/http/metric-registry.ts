/**
 * The Prometheus metrics of one web process. Gauges are computed from rows at each scrape. Counters and histograms add up the closed
 * minutes of the event log: those of the last two days when first asked, then each further minute once, so that they only ever grow.
 */
import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client';
import { addHistograms, BUCKET_BOUNDS_MS } from '../lease/samples.js';
import type { World } from './load-context.js';
import { readMetrics, type MinuteReading, type QueueReading, type Readings } from './metric-readings.js';

export interface Metrics {
  contentType: string;
  /** Never rejects because of the database: then the gauges of rows are left out and leaseboard_database_up is 0. */
  text(): Promise<string>;
}

export function createMetrics(world: World, liveClients: () => number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = makeMeters(registry);
  let seen: string | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  async function scrape(): Promise<string> {
    meters.setProcess(world, liveClients());
    try {
      const readings = await readMetrics(world.pool, seen);
      meters.setQueues(readings.queues);
      meters.setRefusals(readings.refusals);
      meters.setOperatorActions(readings.operatorActions);
      meters.setWebhook(readings.webhook);
      if (readings.lastSweepSeconds !== null) meters.lastSweep.set(readings.lastSweepSeconds);
      for (const minute of readings.minutes) meters.addMinute(minute);
      seen = readings.minutes.at(-1)?.minute ?? seen;
      meters.databaseUp.set(1);
    } catch (error) {
      meters.clearQueues();
      meters.databaseUp.set(0);
      world.log.warn({ event: 'metrics_incomplete', error }, 'The database did not answer a scrape of the metrics');
    }
    return registry.metrics();
  }

  return {
    contentType: registry.contentType,
    // One scrape at a time: each closed minute is added once.
    text: () => (turn = turn.then(scrape)) as Promise<string>,
  };
}

/** What a table says in all, as a counter wants it: only what it was not told of yet. */
function newsOf(): (name: string, total: number) => number {
  const told = new Map<string, number>();
  return (name, total) => {
    const before = told.get(name) ?? 0;
    told.set(name, Math.max(total, before));
    return Math.max(0, total - before);
  };
}

function makeMeters(registry: Registry) {
  const news = newsOf();
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []) => new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: ['queue'], registers });
  const rows = gauge('leaseboard_rows', 'Rows by queue and state; succeeded is estimated beyond 100,000 rows', ['queue', 'state']);
  const stale = gauge('leaseboard_stale_leases', 'Running rows whose lease has expired', ['queue']);
  const oldest = gauge('leaseboard_oldest_waiting_seconds', 'Since the longest claimable row became claimable', ['queue']);
  const lost = counter('leaseboard_leases_lost_total', 'Leases that ran out because a worker died');
  const late = counter('leaseboard_late_writes_refused_total', 'Writes refused because their lease had been lost');
  const givenBack = counter('leaseboard_given_back_total', 'Leases given back by a drain or a release');
  const refused = new Counter({ name: 'leaseboard_publish_refused_total', help: 'Publishes refused, by the code of the answer', labelNames: ['code'], registers });
  const acted = new Counter({ name: 'leaseboard_operator_actions_total', help: 'What operators did and tried, by action and outcome', labelNames: ['action', 'outcome'], registers });
  const told = new Counter({ name: 'leaseboard_webhook_messages_total', help: 'Messages to WEBHOOK_URL: sent, tries that failed, given up', labelNames: ['outcome'], registers });
  const untold = gauge('leaseboard_webhook_waiting', 'Messages that WEBHOOK_URL has not taken yet');
  const wait = new MinuteHistogram('leaseboard_wait_seconds', 'From claimable to claimed', registry);
  const run = new MinuteHistogram('leaseboard_run_seconds', 'From claimed to the end of the lease', registry);
  const listenerUp = gauge('leaseboard_listener_up', '1 while this process hears notifications');
  const roundTrip = gauge('leaseboard_notify_roundtrip_seconds', 'Last canary through LISTEN/NOTIFY');
  const clients = gauge('leaseboard_sse_clients', 'Browsers on the live stream of this process');
  return {
    lastSweep: gauge('leaseboard_last_sweep_timestamp_seconds', 'When the last sweep ran, database clock'),
    databaseUp: gauge('leaseboard_database_up', '1 if the database answered this scrape'),
    setProcess(world: World, liveClients: number) {
      const { up, lastRoundTripMs } = world.listener.state();
      listenerUp.set(up ? 1 : 0);
      if (lastRoundTripMs !== null) roundTrip.set(lastRoundTripMs / 1000);
      clients.set(liveClients);
    },
    setQueues(readings: QueueReading[]) {
      for (const { queue, rows: counts, ...reading } of readings) {
        for (const [state, count] of Object.entries(counts)) rows.set({ queue, state }, count);
        stale.set({ queue }, reading.stale);
        oldest.set({ queue }, reading.oldestWaitingSeconds);
        for (const total of [lost, late, givenBack]) total.inc({ queue }, 0);
        for (const histogram of [wait, run]) histogram.add(queue, []);
      }
    },
    /** What the table says in all. */
    setRefusals(refusals: Record<string, number>) {
      for (const [code, total] of Object.entries(refusals)) refused.inc({ code }, news(`refused ${code}`, total));
    },
    setOperatorActions(done: Readings['operatorActions']) {
      for (const { action, outcome, n } of done) acted.inc({ action, outcome }, news(`${action} ${outcome}`, n));
    },
    setWebhook({ waiting, ...totals }: Readings['webhook']) {
      for (const [outcome, total] of Object.entries(totals)) told.inc({ outcome }, news(`webhook ${outcome}`, total));
      untold.set(waiting);
    },
    clearQueues: () => [rows, stale, oldest].forEach((metric) => metric.reset()),
    addMinute(minute: MinuteReading) {
      const { queue } = minute;
      lost.inc({ queue }, minute.lost);
      late.inc({ queue }, minute.late_writes);
      givenBack.inc({ queue }, minute.given_back);
      wait.add(queue, minute.waits);
      run.add(queue, minute.runs);
    },
  };
}

/** A histogram whose buckets were counted in the database; prom-client's own can only observe single values. */
class MinuteHistogram {
  private readonly totals = new Map<string, number[]>();

  constructor(readonly name: string, private readonly help: string, registry: Registry) {
    registry.registerMetric(this as unknown as Metric);
  }

  add(queue: string, buckets: number[]): void {
    this.totals.set(queue, addHistograms([this.totals.get(queue) ?? [], buckets]));
  }

  reset(): void {
    this.totals.clear();
  }

  /** Called by the registry. The sum is estimated from the middle of each bucket. */
  get(): object {
    const values = [...this.totals].flatMap(([queue, buckets]) => this.lines(queue, buckets));
    return { name: this.name, help: this.help, type: 'histogram', aggregator: 'sum', values };
  }

  private lines(queue: string, buckets: number[]): object[] {
    let count = 0;
    let sum = 0;
    const lines = buckets.map((n, index) => {
      count += n;
      sum += n * middleOf(index);
      return { metricName: `${this.name}_bucket`, labels: { queue, le: boundOf(index) }, value: count };
    });
    return [...lines, { metricName: `${this.name}_sum`, labels: { queue }, value: sum }, { metricName: `${this.name}_count`, labels: { queue }, value: count }];
  }
}

function boundOf(index: number): string | number {
  const bound = BUCKET_BOUNDS_MS[index];
  return bound === undefined ? '+Inf' : bound / 1000;
}

function middleOf(index: number): number {
  const lower = index === 0 ? 0 : BUCKET_BOUNDS_MS[index - 1]!;
  return (lower + (BUCKET_BOUNDS_MS[index] ?? lower)) / 2 / 1000;
}
