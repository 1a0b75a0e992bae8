/**
 * The stub orchestrator's memory: builds, fences, and what it was asked for. It promises what a real one must: the same Idempotency-Key is the same
 * build, and a fence below the highest seen for a deployment is refused, when a build is asked for and again when it would be released.
 */
import { randomBytes } from 'node:crypto';

export interface StubBuild {
  buildId: string;
  deploymentId: string;
  slug: string;
  fence: number;
  key: string;
  state: 'building' | 'released' | 'failed';
  releaseId?: string;
  url?: string;
  error?: string;
}

export interface StubCounts {
  /** Requests for a build, replays and refusals included. */
  asked: number;
  /** Builds that came of them. */
  created: number;
  replayed: number;
  refusedAtCreation: number;
  refusedAtRelease: number;
  cancels: number;
  released: number;
}

export interface StubState {
  builds: StubBuild[];
  fences: Record<string, number>;
  counts: StubCounts;
}

const NOTHING: StubCounts = { asked: 0, created: 0, replayed: 0, refusedAtCreation: 0, refusedAtRelease: 0, cancels: 0, released: 0 };

export class StubBuilds {
  private readonly builds = new Map<string, StubBuild>();
  private readonly fences = new Map<string, number>();
  readonly counts: StubCounts;

  /** @param changed is called after every change, so that the state may be kept. */
  constructor(kept: StubState | undefined, private readonly changed: () => void) {
    for (const build of kept?.builds ?? []) this.builds.set(build.buildId, build);
    for (const [deployment, fence] of Object.entries(kept?.fences ?? {})) this.fences.set(deployment, fence);
    this.counts = { ...NOTHING, ...kept?.counts };
  }

  get state(): StubState {
    return { builds: [...this.builds.values()], fences: Object.fromEntries(this.fences), counts: this.counts };
  }

  find(buildId: string): StubBuild | undefined {
    return this.builds.get(buildId);
  }

  get running(): StubBuild[] {
    return [...this.builds.values()].filter((build) => build.state === 'building');
  }

  /** @returns undefined when the fence is below the highest seen. `fresh`: it was made just now. */
  create(order: Pick<StubBuild, 'deploymentId' | 'slug' | 'fence' | 'key'>): { build: StubBuild; fresh: boolean } | undefined {
    this.counts.asked += 1;
    const same = [...this.builds.values()].find((build) => build.key === order.key);
    if (same) {
      this.counts.replayed += 1;
      return { build: same, fresh: false };
    }
    const highest = this.fences.get(order.deploymentId) ?? 0;
    if (order.fence <= highest) {
      this.counts.refusedAtCreation += 1;
      this.changed();
      return undefined;
    }
    const build: StubBuild = { ...order, buildId: `b-${randomBytes(6).toString('hex')}`, state: 'building' };
    this.fences.set(order.deploymentId, order.fence);
    this.builds.set(build.buildId, build);
    this.counts.created += 1;
    this.changed();
    return { build, fresh: true };
  }

  /** The end of a build. A release under an old fence is refused and fails the build. */
  finish(buildId: string, error?: string): void {
    const build = this.builds.get(buildId);
    if (!build || build.state !== 'building') return;
    if (error !== undefined) Object.assign(build, { state: 'failed', error });
    else if (build.fence < (this.fences.get(build.deploymentId) ?? 0)) {
      this.counts.refusedAtRelease += 1;
      Object.assign(build, { state: 'failed', error: 'A newer publish of this app has been seen; this one was not released.' });
    } else {
      this.counts.released += 1;
      Object.assign(build, { state: 'released', releaseId: `r-${build.buildId.slice(2)}`, url: `https://${build.slug}.apps.example` });
    }
    this.changed();
  }

  cancel(buildId: string, heeded: boolean): void {
    this.counts.cancels += 1;
    if (heeded) this.finish(buildId, 'cancelled');
  }
}
