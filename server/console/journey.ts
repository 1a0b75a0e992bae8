/**
 * Where a report is: from the upload to the finished report, for the console, the API and whoever answers a customer. Read from rows alone:
 * nothing here is remembered, so every reader is told the same.
 */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueDefinition } from '../lease/queues.js';
import { analysisJobs, jobCitations, parseItems, parseJobs } from '../lease/queues.js';
import type { Answer, Eta, Situation } from './answer.js';
import { answerOf, situationOf } from './answer.js';
import { rangeOf } from './eta.js';
import type { PastReader } from './eta-journey.js';
import { readEnds } from './eta-journey.js';
import { readPastAnalyses } from './eta-samples.js';
import type { Group } from './journey-group.js';
import { countAhead, countOtherReports, readOutlook, readUsualP95, USUAL_BASIS } from './journey-outlook.js';
import type { NextEvent, Pace, Progress, Step, Surroundings } from './journey-pace.js';
import { groupOf, nextEvent, paceOf, stepOf } from './journey-pace.js';
import type { AnalysisFacts, FileFailure, JourneyAction, JourneyKey, StageHolder, SurvivedRedeploy } from './journey-rows.js';
import { readActions, readAnalysis, readBesides, readChecks, readFiles, readHolders, readReading, readSurvived, readUploads } from './journey-rows.js';
import type { StageView } from './journey-stages.js';
import { stagesOf } from './journey-stages.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** Instants in milliseconds since 1970 on the database clock. No text of a document, ever. */
export interface JourneyView extends Stamp {
  userId: string;
  sessionId: string;
  /** The analysis that this journey leads to: the latest, or the one asked for. */
  analysis: AnalysisFacts | null;
  /** Other analyses of the session, and files that came after this one had read its sources. */
  others: { analyses: number; laterFiles: number };
  uploads: number;
  /** The latest upload: while there is no analysis, what happens shows on its row. */
  follow: string | null;
  /** Of the analysis or, while there is none, of the latest upload. */
  version: number;
  /** Documents that the session has linked now. */
  linked: number;
  stages: StageView[];
  step: Step | null;
  pace: Pace | null;
  next: NextEvent;
  holders: StageHolder[];
  failures: FileFailure[];
  redeploys: SurvivedRedeploy[];
  survivedRedeploys: number;
  actions: JourneyAction[];
  eta: Eta | null;
  situation: Situation['kind'];
  answer: Answer;
  /** In which the answer's times are told. */
  timeZone: string;
}

export interface JourneyOptions {
  /** Zone of the answer's times, an IANA name that exists. */
  timeZone?: string;
  /** MAX_RUNNING_CITATIONS_PER_USER and POLL_SECONDS, as the workers have them. */
  userCap?: number;
  pollSeconds?: number;
}

const DEFAULTS = { timeZone: 'UTC', userCap: 8, pollSeconds: 5 };

/**
 * The journey of a user's session; null if the session has nothing of this user, or the analysis asked for is not theirs. In the caller's
 * read-only transaction, or one of its own. @throws ReadTimeoutError
 */
export function readJourney(db: Kysely<DB> | Reader, key: JourneyKey, options: JourneyOptions = {}): Promise<JourneyView | null> {
  return db.isTransaction ? readIn(db as Reader, key, { ...DEFAULTS, ...options }) : readOnly(db, (reader) => readIn(reader, key, { ...DEFAULTS, ...options }));
}

/** What to tell somebody whose details lead nowhere. */
export function notFoundAnswer(): Answer {
  return answerOf({ kind: 'not_found' });
}

async function readIn(reader: Reader, key: JourneyKey, options: Required<JourneyOptions>): Promise<JourneyView | null> {
  const stamp = await readStamp(reader);
  const analysis = await readAnalysis(reader, key);
  if (!analysis && key.analysisId !== undefined) return null;
  const readAt = analysis?.readAt ?? null;
  const files = await readFiles(reader, key, readAt);
  const besides = await readBesides(reader, key, analysis);
  if (!analysis && files.total === 0 && besides.linked === 0) return null;
  const progress: Progress = {
    analysis, files, uploads: await readUploads(reader, key, readAt), reading: analysis && await readReading(reader, analysis),
    checks: analysis && readAt !== null ? await readChecks(reader, analysis.id) : null,
  };
  const step = stepOf(progress);
  const group = step && groupOf(progress, step);
  const past = once(() => readPastAnalyses(reader));
  const pace = step && group && paceOf(group, await readSurroundings(reader, key, step, group, analysis, options.userCap, past));
  const holders = await readHolders(reader, key, analysis?.id ?? null);
  const redeploys = await readSurvived(reader, key, analysis);
  const eta = step && pace && rangeOf(await readEnds(reader, key, progress, step, pace, stamp.asOf, past));
  const situation = situationOf({ ...progress, step, pace, eta, linked: besides.linked, laterFiles: besides.laterFiles, survivedRedeploys: redeploys.length });
  return {
    ...stamp, userId: key.userId, sessionId: key.sessionId, analysis, others: { analyses: besides.analyses, laterFiles: besides.laterFiles },
    uploads: files.uploads, follow: progress.uploads.latest, version: analysis?.version ?? progress.uploads.latestVersion ?? 0, linked: besides.linked, stages: stagesOf({ ...progress, step, pace, holders, asOf: stamp.asOf }), step, pace,
    next: nextEvent(pace, group, analysis, stamp.asOf, options.pollSeconds), holders, failures: files.failures, redeploys, survivedRedeploys: redeploys.length,
    actions: await readActions(reader, key, analysis?.id ?? null), eta, situation: situation.kind,
    answer: answerOf(situation, options.timeZone), timeZone: options.timeZone,
  };
}

const queueOf: Record<Step, QueueDefinition> = { files: parseItems, indexing: parseJobs, reading: analysisJobs, checks: jobCitations };

/** What is read of the surroundings is only what this step's pace depends on. */
async function readSurroundings(reader: Reader, key: JourneyKey, step: Step, group: Group, analysis: AnalysisFacts | null, userCap: number, past: PastReader): Promise<Surroundings> {
  const queue = queueOf[step];
  const held = group.running > 0;
  const others = !held && step === 'checks' ? await countOtherReports(reader, analysis!.id, key.userId) : null;
  return {
    outlook: await readOutlook(reader, queue), usualMs: held ? await readUsual(reader, step, queue, past) : null,
    ahead: held ? 0 : others ? others.others : await countAhead(reader, queue, ownRows(key, step, analysis)), heldElsewhere: others?.own ?? 0, userCap,
  };
}

/** An analysis has not ended when its claims are read, so the samples of its queue do not know how long that takes. */
async function readUsual(reader: Reader, step: Step, queue: QueueDefinition, past: PastReader): Promise<number | null> {
  if (step !== 'reading') return readUsualP95(reader, queue);
  const took = (await past()).map(({ reading }) => reading.tookMs).sort((a, b) => a - b);
  return took.length < USUAL_BASIS ? null : took[Math.ceil(0.95 * took.length) - 1]!;
}

/** Read when it is first needed, and not again. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => (found ??= read());
}

function ownRows({ userId, sessionId }: JourneyKey, step: Step, analysis: AnalysisFacts | null) {
  return step === 'reading' ? sql`id = ${analysis!.id}::uuid` : sql`session_id = ${sessionId} and user_id = ${userId}`;
}
