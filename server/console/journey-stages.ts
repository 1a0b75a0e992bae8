/** The five stages of a journey, from what its rows say. Pure. */
import type { Group } from './journey-group.js';
import type { Pace, Progress, Step } from './journey-pace.js';
import type { StageHolder } from './journey-rows.js';

export type StageState = 'ahead' | 'waiting' | 'running' | 'slow' | 'retrying' | 'interrupted' | 'done' | 'partly' | 'failed' | 'cancelled';

/** Instants in milliseconds since 1970, durations in milliseconds, all on the database clock. */
export interface StageView {
  name: 'uploaded' | 'parsed' | 'claims' | 'checked' | 'ready';
  state: StageState;
  /** Files, claims or citations; null where there is nothing to count (yet). */
  total: number | null;
  done: number | null;
  /** Ended without a result: files that could not be read, citations that could not be checked. */
  unsuccessful: number;
  startedAt: number | null;
  finishedAt: number | null;
  /** Nobody was at it, or what was done was lost. */
  waitedMs: number | null;
  workedMs: number | null;
  holders: StageHolder[];
  retries: number;
  lostLeases: number;
  putBack: number;
}

export interface StagesInput extends Progress {
  step: Step | null;
  pace: Pace | null;
  holders: StageHolder[];
  asOf: number;
}

export function stagesOf(input: StagesInput): StageView[] {
  return [uploaded(input), parsed(input), claims(input), checked(input), ready(input)];
}

function stage(name: StageView['name'], state: StageState, more: Partial<StageView> = {}): StageView {
  return { name, state, total: null, done: null, unsuccessful: 0, startedAt: null, finishedAt: null, waitedMs: null, workedMs: null, holders: [], retries: 0, lostLeases: 0, putBack: 0, ...more };
}

/** A stage that is under way is as its pace is. */
const underWay: Record<Pace['kind'], StageState> = {
  moving: 'running', slow: 'slow', interrupted: 'interrupted', retry: 'retrying', paused: 'waiting', outage: 'waiting', no_worker: 'waiting', own_turn: 'waiting', queued: 'waiting',
};

const troubles = (...groups: Group[]) => ({
  retries: sum(groups, 'retries'), lostLeases: sum(groups, 'lostLeases'), putBack: sum(groups, 'putBack'),
});

function sum(groups: readonly Group[], column: 'retries' | 'lostLeases' | 'putBack' | 'workedMs' | 'presentMs'): number {
  return groups.reduce((all, group) => all + group[column], 0);
}

function uploaded({ files }: StagesInput): StageView {
  if (files.total === 0) return stage('uploaded', 'done', { total: 0, done: 0 });
  return stage('uploaded', 'done', { total: files.total, done: files.total, startedAt: files.firstAt, finishedAt: files.lastAt });
}

function parsed({ files, uploads, step, pace, holders }: StagesInput): StageView {
  if (files.total === 0) return stage('parsed', 'done', { total: 0, done: 0 });
  const facts = {
    total: files.total, done: files.succeeded, unsuccessful: files.failed + files.cancelled, startedAt: files.startedAt,
    workedMs: sum([files, uploads], 'workedMs'), waitedMs: Math.max(0, uploads.presentMs - sum([files, uploads], 'workedMs')),
    holders: holders.filter((holder) => holder.stage === 'parsed'), ...troubles(files, uploads),
  };
  if (step === 'files' || step === 'indexing') return stage('parsed', underWay[pace!.kind], facts);
  return stage('parsed', endOf(files, false), { ...facts, finishedAt: Math.max(files.lastEndAt ?? 0, uploads.lastEndAt ?? 0) || null });
}

function endOf({ total, succeeded, cancelled }: Group, wasCancelled: boolean): StageState {
  if (succeeded === total) return 'done';
  if (cancelled === total || (wasCancelled && cancelled > 0)) return 'cancelled';
  return succeeded > 0 ? 'partly' : 'failed';
}

function claims(input: StagesInput): StageView {
  const { analysis, reading, step, pace, holders, asOf } = input;
  if (!analysis || !reading) return stage('claims', 'ahead');
  const begun = Math.max(analysis.createdAt, parsed(input).finishedAt ?? analysis.createdAt);
  const facts = {
    total: analysis.claims, done: analysis.claims, startedAt: reading.startedAt, finishedAt: analysis.readAt, workedMs: reading.workedMs,
    waitedMs: Math.max(0, (analysis.readAt ?? analysis.finishedAt ?? asOf) - begun - reading.workedMs), holders: holders.filter((holder) => holder.stage === 'claims'), ...troubles(reading),
  };
  if (analysis.readAt !== null) return stage('claims', 'done', facts);
  if (step === 'files' || step === 'indexing') return stage('claims', 'ahead', { waitedMs: null });
  return stage('claims', step === 'reading' ? underWay[pace!.kind] : endedAs(analysis.state), { ...facts, finishedAt: analysis.finishedAt });
}

function checked({ analysis, checks, step, pace, holders }: StagesInput): StageView {
  if (!analysis || analysis.readAt === null || !checks) return stage('checked', 'ahead');
  const ended = checks.succeeded + checks.failed + checks.cancelled;
  const facts = {
    total: checks.total, done: checks.succeeded, unsuccessful: checks.failed + checks.cancelled, startedAt: checks.startedAt,
    finishedAt: ended === checks.total ? (checks.lastEndAt ?? analysis.finishedAt) : null,
    workedMs: checks.workedMs, waitedMs: Math.max(0, checks.presentMs - checks.workedMs), holders: holders.filter((holder) => holder.stage === 'checked'), ...troubles(checks),
  };
  if (step === 'checks') return stage('checked', underWay[pace!.kind], facts);
  return stage('checked', checks.total === 0 ? 'done' : endOf(checks, analysis.state === 'cancelled'), facts);
}

function ready({ analysis }: StagesInput): StageView {
  if (!analysis || analysis.finishedAt === null) return stage('ready', 'ahead');
  return stage('ready', endedAs(analysis.state), { startedAt: analysis.createdAt, finishedAt: analysis.finishedAt });
}

function endedAs(state: string): StageState {
  return state === 'succeeded' ? 'done' : state === 'cancelled' ? 'cancelled' : 'failed';
}
