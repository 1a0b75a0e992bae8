/**
 * The handler that drives a publish: ends the predecessor's build, asks for its own (or finds the one that is already running), watches it, and
 * switches live in the transaction that settles the row.
 *
 * Crash between any two steps: another worker acquires the row and goes on. Before the request for a build: asks for it. Request sent, answer
 * lost: the same Idempotency-Key finds the same build. Id recorded: watches it. Released but not settled: reads `released` again and settles.
 * A worker that lost the row finds zero rows with its next step and stops; what it may still have on the way is refused by the fence.
 */
import type pg from 'pg';
import type { Handler, Work } from '../lease/handler.js';
import { PermanentError, TransientError } from '../lease/errors.js';
import type { Lease } from '../lease/lease.js';
import { BuildUnknownError, type BuildState, type Orchestrator } from './orchestrator-client.js';
import { pauseFor } from './pause.js';
import * as standing from './standing.js';

export interface BuildOptions {
  orchestrator: Orchestrator;
  /** Between two looks at a build (ms). */
  lookEveryMs?: number;
  /** A predecessor's build that does not end although it was cancelled is waited for this long (ms); from then on only the fence guards. */
  predecessorLimitMs?: number;
}

const LOOK_EVERY_MS = 2_000;
const PREDECESSOR_LIMIT_MS = 60_000;

export function createBuildHandler({ orchestrator, lookEveryMs = LOOK_EVERY_MS, predecessorLimitMs = PREDECESSOR_LIMIT_MS }: BuildOptions): Handler {
  return async (lease, work) => {
    const publish = new Publish(lease, work, orchestrator, lookEveryMs);
    await publish.endPredecessor(predecessorLimitMs);
    const end = await publish.watch(await publish.build());
    return { succeed: true, apply: (tx: pg.PoolClient) => standing.switchLive(tx, lease, end) };
  };
}

class Publish {
  private cancelSent = false;

  constructor(private readonly lease: Lease, private readonly work: Work, private readonly orchestrator: Orchestrator, private readonly lookEveryMs: number) {}

  private standing() {
    return standing.readStanding(this.work.pool, this.lease);
  }

  /** The lock says that nobody else publishes; this makes it true of the hosting as well. */
  async endPredecessor(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    for (let told = false; ; told = true) {
      const { previousBuildId } = await this.standing();
      if (!previousBuildId) return;
      const end = await this.endOf(previousBuildId, told);
      if (end?.state !== 'building') return standing.notePreviousEnded(this.work.pool, this.lease, previousBuildId, end);
      if (performance.now() > until) return void this.work.log.warn({ event: 'predecessor_lingers', build: previousBuildId }, 'A cancelled build does not end; the fence keeps it from going live');
      await pauseFor(this.lookEveryMs, this.work.signal);
    }
  }

  /** @returns null for a build that the orchestrator does not know: it has ended, however it was. */
  private async endOf(buildId: string, told: boolean): Promise<BuildState | null> {
    try {
      if (!told) await this.orchestrator.cancelBuild(buildId, this.work.signal);
      return await this.orchestrator.readBuild(buildId, this.work.signal);
    } catch (error) {
      if (error instanceof BuildUnknownError) return null;
      throw error;
    }
  }

  /** The id of this publish's build. A cancel that comes before any was asked for needs none. */
  async build(): Promise<string> {
    const { lease, work } = this;
    const now = await this.standing();
    if (now.buildId) return now.buildId;
    if (now.cancelled && !now.asked) throw cancelled();
    await standing.noteAsked(work.pool, lease);
    const buildId = await this.orchestrator.createBuild({
      deploymentId: lease.id, projectId: lease.row.project_id as string, slug: lease.row.slug as string, publishNo: lease.row.publish_no as number,
    }, work.signal);
    work.outsideAnswered();
    await standing.noteBuild(work.pool, lease, buildId);
    return buildId;
  }

  /** @returns once it is released; a build that failed, or was cancelled, fails the publish. A release that was faster than a cancel is live. */
  async watch(buildId: string): Promise<BuildState> {
    for (;;) {
      const end = await this.look(buildId);
      if (end.state === 'released') return end;
      if (end.state === 'failed') {
        await standing.noteBuildEnded(this.work.pool, this.lease);
        throw this.cancelSent ? cancelled() : new PermanentError('build_failed', end.error ?? 'The build failed; the hosting did not say why.');
      }
      await pauseFor(this.lookEveryMs, this.work.signal);
    }
  }

  private async look(buildId: string): Promise<BuildState> {
    try {
      const now = await this.standing();
      if (now.cancelled && !this.cancelSent) {
        await this.orchestrator.cancelBuild(buildId, this.work.signal);
        this.cancelSent = true;
      }
      const state = await this.orchestrator.readBuild(buildId, this.work.signal);
      this.work.outsideAnswered();
      return state;
    } catch (error) {
      if (!(error instanceof BuildUnknownError)) throw error;
      await standing.forgetBuild(this.work.pool, this.lease);
      throw new TransientError('build_lost', 'The hosting no longer knows this build; it is asked for again.', { cause: error });
    }
  }
}

function cancelled(): PermanentError {
  return new PermanentError('cancelled', 'This publish was cancelled before it went live. What was live before still serves.');
}
