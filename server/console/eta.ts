/**
 * When it will be done, as a range that holds the true end in about four cases of five; null when nobody could know. Pure.
 *
 * Method: split conformal prediction (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2005; Lei et al.: Distribution-Free
 * Predictive Inference for Regression, JASA 113, 2018), with the recent finished runs of the same stage as the calibration set.
 *
 * - A run has units (citations to check, bytes to read), a start (when its work came into being: the wait for a worker belongs to it) and
 *   an end. Of each recent run it is known when any share of it was done.
 * - The run in question has a share done, since its last step. What it will still take is guessed from its own pace and the median pace of
 *   the recent runs; the more of it is done, the more its own pace counts.
 * - The same guess is made for each recent run, as of the moment at which the same share of it was done, and held against what it then really
 *   took. These factors, right or wrong as the guess may be, are what the guess is wrong by; their quantiles times the guess are the range.
 *   A heavy tail, a crowd or a redeploy among the recent runs is in the factors, whatever the shape of their distribution.
 * - Ends that would lie in the past have been disproved by now: they are left out, so that a run that hangs is told later and later, and
 *   not at all once too few of the recent runs ever took that long.
 * - Stages that are still ahead are added as the sums of all pairs of samples, as if they were independent.
 *
 * The measured coverage under light, heavy-tailed and bursty work and under redeploys is printed by `npm run bench eta`.
 */
import type { Eta } from './answer.js';

/** Fewer recent runs are no basis: below nine, a range that holds four in five has no end. */
export const LEAST_RUNS = 10;
/** So many of them must have taken longer than this one has until now. */
const LEAST_LEFT = 4;
/** Runs of about the same size are taken, at most so many. */
const MOST_RUNS = 40;
/** Share of the work after which the own pace counts as much as that of the others. */
const HALF_TRUST = 0.15;
/** The tail after the last step is a share of the work as well (embedding, linking). */
const TAIL_SHARE = 0.03;
/** The range leaves out so much on either side. */
const OUTSIDE = 0.1;
/** A distribution is carried on as so many quantiles. */
const GRID = 40;

/** Instants in milliseconds since 1970. */
export interface PastRun {
  units: number;
  startedAt: number;
  endedAt: number;
  /** When its steps ended, ascending: each an equal share of its units, or a sample of them. */
  steps: number[];
}

export interface OpenRun {
  units: number;
  startedAt: number;
  /** 0 to 1. */
  share: number;
  /** When the last step ended; the start while there was none. */
  lastStepAt: number;
}

/** Instants (milliseconds since 1970), each as likely as the other, none of them before `now`. Null without a basis. */
export type Ends = number[];

/** Ends of a run that is under way. */
export function endsOf(run: OpenRun, past: readonly PastRun[], now: number): Ends | null {
  const alike = nearest(past, run.units, (each) => each.units);
  if (alike.length < LEAST_RUNS) return null;
  const pace = median(alike.map(({ units, startedAt, endedAt }) => (endedAt - startedAt) / units));
  const guess = (units: number, elapsedMs: number) => guessLeft(pace * units, elapsedMs, run.share);
  const factors = alike.map((each) => {
    const at = instantOf(each, run.share);
    return (each.endedAt - at) / guess(each.units, at - each.startedAt);
  });
  const left = guess(run.units, run.lastStepAt - run.startedAt);
  return notYetPast(factors.map((factor) => run.lastStepAt + left * factor), now);
}

/** What a run with this share done will still take (ms). @param usualMs how long a run of its size takes in all. */
function guessLeft(usualMs: number, elapsedMs: number, share: number): number {
  const trust = share / (share + HALF_TRUST);
  const ownMs = share > 0 ? Math.max(1, elapsedMs) / share : 1;
  return Math.max(1, Math.max(1 - share, TAIL_SHARE) * Math.exp(trust * Math.log(ownMs) + (1 - trust) * Math.log(Math.max(1, usualMs))));
}

/** When this share of a finished run was done, steps in between taken as even. */
function instantOf({ startedAt, endedAt, steps }: PastRun, share: number): number {
  const place = share * steps.length;
  const whole = Math.min(Math.floor(place), steps.length);
  const before = whole === 0 ? startedAt : steps[whole - 1]!;
  const after = whole < steps.length ? steps[whole]! : endedAt;
  return whole < steps.length ? before + (after - before) * (place - whole) : before;
}

/** A stage that is done in one go, of which it is only known how long it took. */
export interface PastStage {
  /** Size by which those that are alike are found (pages); null if it was not known. */
  units: number | null;
  tookMs: number;
  /** How long it went on in all, the stages behind it included. */
  totalMs: number;
}

/** Ends of everything from a stage on that began at `startedAt` and is not over. */
export function endsFrom(startedAt: number, units: number | null, past: readonly PastStage[], now: number): Ends | null {
  const known = units === null ? past.slice(-MOST_RUNS) : nearest(past, units, (each) => each.units ?? units);
  if (known.length < LEAST_RUNS) return null;
  return notYetPast(known.filter((each) => startedAt + each.tookMs > now).map((each) => startedAt + each.totalMs), now);
}

/** What has waited since `since` and is waited for as the quantiles of the waits (ms) say, and then takes one of these times (ms). */
export function endsAfterWait(since: number, waitsMs: readonly number[], thenMs: readonly number[], now: number): Ends | null {
  const starts = notYetPast(waitsMs.map((wait) => since + wait), now);
  return starts && thenMs.length >= LEAST_RUNS ? plus(starts, thenMs) : null;
}

/** The sums of all pairs, thinned to as many as are worth carrying on. */
export function plus(ends: Ends, thenMs: readonly number[]): Ends {
  const sums = thin(ends).flatMap((end) => thin(thenMs).map((ms) => end + ms));
  return thin(sums);
}

/** The range that leaves out OUTSIDE on either side, by the order statistics that hold for a finite sample. */
export function rangeOf(ends: Ends | null): Eta | null {
  if (ends === null || ends.length === 0) return null;
  const sorted = ascending(ends);
  const place = (q: number) => Math.min(sorted.length - 1, Math.max(0, q));
  return { from: sorted[place(Math.floor((sorted.length + 1) * OUTSIDE) - 1)]!, to: sorted[place(Math.ceil((sorted.length + 1) * (1 - OUTSIDE)) - 1)]! };
}

function notYetPast(ends: Ends, now: number): Ends | null {
  const left = ends.filter((end) => end > now);
  return left.length >= LEAST_LEFT ? left : null;
}

/** The recent ones of about this size. */
function nearest<T>(past: readonly T[], units: number, unitsOf: (one: T) => number): T[] {
  const distance = (one: T) => Math.abs(Math.log(Math.max(1, unitsOf(one)) / Math.max(1, units)));
  return [...past].sort((a, b) => distance(a) - distance(b)).slice(0, MOST_RUNS);
}

function thin(values: readonly number[]): number[] {
  const sorted = ascending(values);
  return sorted.length <= GRID ? sorted : Array.from({ length: GRID }, (_, k) => sorted[Math.floor(((k + 0.5) / GRID) * sorted.length)]!);
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
