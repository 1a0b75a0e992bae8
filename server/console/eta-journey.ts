/** When a journey will be over: the estimate of each step that is still ahead of it, and their sum. */
import { analysisJobs } from '../lease/queues.js';
import type { Ends } from './eta.js';
import { endsAfterWait, endsFrom, endsOf, LEAST_RUNS, plus } from './eta.js';
import type { PastAnalysis } from './eta-samples.js';
import { readOpenUpload, readPastUploads, readWaits } from './eta-samples.js';
import type { Pace, Progress, Step } from './journey-pace.js';
import type { JourneyKey } from './journey-rows.js';
import type { Reader } from './read.js';

/** It moves, or waits for nothing but its turn. Of what rests for a reason nobody knows when that ends. */
const GOES_ON: readonly Pace['kind'][] = ['moving', 'queued', 'retry'];

/** The recent analyses, read once for all who need them. */
export type PastReader = () => Promise<PastAnalysis[]>;

/** @param now milliseconds since 1970, database clock. Null without a basis. */
export async function readEnds(reader: Reader, key: JourneyKey, { analysis, reading, checks }: Progress, step: Step, pace: Pace, now: number, readPast: PastReader): Promise<Ends | null> {
  if (!GOES_ON.includes(pace.kind)) return null;
  if (step === 'files' || step === 'indexing') {
    const run = await readOpenUpload(reader, key);
    const ends = run && endsOf(run, await readPastUploads(reader), now);
    return ends && analysis ? thenAnalysis(ends, await readPast(), await readWaits(reader, analysisJobs)) : ends;
  }
  const past = await readPast();
  if (step === 'checks') {
    const units = Math.max(1, checks!.total - checks!.missing);
    const share = (checks!.succeeded - checks!.missing + checks!.failed + checks!.cancelled) / units;
    return endsOf({ units, share, startedAt: analysis!.readAt!, lastStepAt: Math.max(analysis!.readAt!, checks!.lastEndAt ?? 0) }, past.map((each) => each.checks), now);
  }
  if (reading!.running > 0) return endsFrom(reading!.startedAt!, analysis!.thesisPages, past.map((each) => each.reading), now);
  return endsAfterWait(analysis!.waitsSince, await readWaits(reader, analysisJobs), past.map((each) => each.reading.totalMs), now);
}

/** The end of its uploads wakes an analysis, which then waits for its turn as others do. */
function thenAnalysis(ends: Ends, past: readonly PastAnalysis[], waits: readonly number[]): Ends | null {
  if (past.length < LEAST_RUNS || waits.length === 0) return null;
  return plus(plus(ends, waits), past.map((each) => each.reading.totalMs));
}
