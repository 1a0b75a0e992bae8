/**
 * A process that works: its identity, its own connections, its loops. Used by the worker process, and by any other that takes work inline
 * through the very same protocol.
 */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type pg from 'pg';
import { createListener, type Listener } from '../bus/listener.js';
import { createRowHints, type RowHints } from '../bus/row-hints.js';
import type { Config } from '../config.js';
import { applicationName, connectDirect, connectionConfig } from '../db/connection.js';
import { createReservedConnection, type ReservedConnection } from '../db/reserved.js';
import { markStopped, registerProcess, startShutdownDrain, type ProcessIdentity, type ProcessRole } from '../lease/processes.js';
import { queues, type QueueDefinition } from '../lease/queues.js';
import { sweep } from '../lease/sweep.js';
import type { Logger } from '../log.js';
import type { Handlers } from '../lease/handler.js';
import { lanesOf } from './lanes.js';
import { createLoop, type Loop } from './loop.js';
import { Worker } from './worker.js';

/** The pump's statements are small; a longer silence means a dead connection (ms). */
const PUMP_ANSWER_MS = 15_000;
/** Beats must fail fast, so that they can be tried again before the lease ends (ms). */
const BEAT_STATEMENT_MS = 5_000;

/** The engine's statements name a few rows by key, whatever the planner believes of a table that grew since its last ANALYZE: one plan, by index. */
const BY_INDEX = 'set jit = off; set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off';

/**
 * The pump's session. A server, database or role may default to asynchronous commits; an acquire that a crash undoes would be handed out again
 * under the same token. Stricter defaults (remote_apply) stay.
 */
export const PUMP_SETUP = `${BY_INDEX}; set statement_timeout = '${PUMP_ANSWER_MS}ms';
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')`;

/** WORKER_ID is a label; the identity is unique per start. */
export function identify(config: Config, role: ProcessRole, queuesTaken: readonly QueueDefinition[]): ProcessIdentity {
  const label = role === 'inline' ? `${config.workerId}/inline` : config.workerId;
  return {
    id: `${label}-${randomBytes(5).toString('hex')}`, label, role, version: config.appVersion, host: os.hostname(), pid: process.pid,
    capabilities: [...new Set(queuesTaken.map((queue) => queue.capability))],
    kinds: Object.fromEntries(queuesTaken.map((queue) => [queue.table, { ...queue.kinds }])),
    slots: queuesTaken.length === 0 ? 0 : lanesOf(config, queuesTaken).reduce((sum, lane) => sum + lane.slots, 0),
    heartbeatSeconds: config.heartbeatSeconds,
  };
}

export interface WorkerProcess {
  identity: ProcessIdentity;
  worker: Worker;
  listener: Listener;
  start(): Promise<void>;
  /** Drains within `seconds`, says its last word, closes its connections (not the pool). Idempotent. */
  stop(seconds: number): Promise<void>;
}

export interface WorkerProcessOptions {
  config: Config;
  role: 'worker' | 'inline';
  pool: pg.Pool;
  handlers: Handlers;
  log: Logger;
  registry?: readonly QueueDefinition[];
}

export function createWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { config, pool, log, role, handlers, registry = queues } = options;
  const taken = registry.filter((queue) => config.workerCapabilities.includes(queue.capability) && handlers[queue.table]);
  const identity = identify(config, role, taken);
  const pumpConnection = reserve(options, 'pump', PUMP_SETUP, PUMP_ANSWER_MS * 2);
  // Only beats may commit asynchronously: a lost beat costs at most one lease, a lost acquire would hand out a token twice.
  const beatConnection = reserve(options, 'beats', `set synchronous_commit = off; ${BY_INDEX}; set statement_timeout = '${BEAT_STATEMENT_MS}ms'`, BEAT_STATEMENT_MS * 2);
  const listener = createListener({
    connection: connectionConfig(config.databaseDirectUrl, { applicationName: applicationName(`${role}/listener`, config.appVersion) }),
    channels: { kick: config.kickChannel }, log,
  });
  const hints = createRowHints({ send: (text, values) => beatConnection.query({ text, values }), rowsChannel: config.rowsChannel, log });
  const register = () => registerProcess(beatConnection, identity);
  const worker = new Worker({
    config, holder: { workerId: identity.id, version: identity.version, leaseSeconds: config.leaseSeconds, userCap: config.maxRunningCitationsPerUser },
    queues: taken, registry, handlers, pool, pumpConnection, beatConnection, listener, hints, register, log,
  });
  const sweeps = createSweepLoop({ config, pool, log, identity, hints, registry });
  let stopped: Promise<void> | undefined;

  async function stop(seconds: number): Promise<void> {
    // The drain first: nothing is claimed from here on, even where the registry cannot be reached or a sweep takes its time.
    const drained = worker.drain(seconds * 1000);
    await startShutdownDrain(beatConnection, identity.id, seconds).catch((error: unknown) => log.warn({ event: 'drain_not_recorded', err: error }, 'The drain could not be recorded'));
    await Promise.all([drained, sweeps.stop()]);
    await markStopped(beatConnection, identity.id).catch((error: unknown) => log.warn({ event: 'stop_not_recorded', err: error }, 'The stop could not be recorded'));
    await Promise.all([listener.close(), pumpConnection.close(), beatConnection.close()]);
  }

  return {
    identity, worker, listener,
    async start() {
      await register();
      listener.start();
      worker.start();
      sweeps.start();
      log.info({ event: 'worker_started', worker: identity.id, version: identity.version, capabilities: identity.capabilities, slots: identity.slots }, 'Taking work');
    },
    stop: (seconds) => (stopped ??= stop(seconds)),
  };
}

function reserve({ config, role, log }: WorkerProcessOptions, purpose: string, setup: string, answerTimeoutMs: number): ReservedConnection {
  return createReservedConnection({ connect: () => connectDirect(config, { role, purpose, log }), setup, answerTimeoutMs, log });
}

export interface SweepLoopOptions {
  config: Config;
  pool: pg.Pool;
  identity: Pick<ProcessIdentity, 'id' | 'version'>;
  hints: RowHints;
  log: Logger;
  registry?: readonly QueueDefinition[];
}

/** Every SWEEP_SECONDS with jitter; the first soon after the start, so that a restart after a crash does not wait a whole interval. */
export function createSweepLoop({ config, pool, identity, hints, log, registry = queues }: SweepLoopOptions): Loop {
  const loop = createLoop({
    name: 'sweep', everyMs: config.sweepSeconds * 1000, jitter: 0.2, log,
    async run() {
      const report = await sweep(pool, { ...config, workerId: identity.id, version: identity.version }, registry);
      for (const { table, ids } of report.changed) hints.changed(table, ids);
      if (report.requeued + report.failed + report.expired > 0) log.info({ event: 'swept', requeued: report.requeued, failed: report.failed, expired: report.expired }, 'Expired leases were taken back');
    },
  });
  return {
    ...loop,
    start() {
      loop.start();
      void loop.runOnce().catch((error: unknown) => log.warn({ event: 'sweep_failed', err: error }, 'The sweep at the start failed and will run again'));
    },
  };
}
