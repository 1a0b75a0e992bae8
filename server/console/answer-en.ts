/** The answer in English. */
import type { Situation, UnderWay, Unread } from './answer.js';
import type { AnswerTimes } from './answer-time.js';
import { wholeMinutes } from './answer-time.js';
import { AHEAD_CAP } from './journey-outlook.js';
import type { Pace } from './journey-pace.js';

export function english(situation: Situation, times: AnswerTimes): string {
  return `${clauses(situation, times).filter((clause) => clause !== null).join('; ')}.`;
}

type Clause = string | null;

function clauses(situation: Situation, times: AnswerTimes): Clause[] {
  switch (situation.kind) {
    case 'not_found': return ['We could not find an upload or a report under these details', 'please check them, or tell us the e-mail address that was used'];
    case 'finished': return finished(situation, times);
    case 'failed': return [...(reportFailures[situation.code] ?? reportFailures.internal!), unreadOfAll(situation, times)];
    case 'cancelled': return [`Your report was cancelled ${on(situation.at, times)}`, 'it can be started again at any time'];
    case 'reset': return ['No documents are assigned to this report any more because they were reset', 'please upload or select them again, and then start a new report'];
    case 'under_way': return underWay(situation, times);
    case 'files_read': return filesRead(situation, times);
    case 'files_unread': return [situation.files === 1 ? `Your file could not be read: ${why(situation.unread, times)}`
      : `None of your ${times.number(situation.files)} files could be read: ${why(situation.unread, times)}`];
    case 'documents': return [situation.n === 1 ? 'Your document is in place' : `Your ${times.number(situation.n)} documents are in place`, 'no report has been started yet'];
  }
}

function on(at: number, times: AnswerTimes): string {
  return `on ${times.date(at)} at ${times.clock(at)} ${times.zone(at)}`;
}

function finished(situation: Situation & { kind: 'finished' }, times: AnswerTimes): Clause[] {
  const { at, citations, unchecked, later } = situation;
  return [
    `Your report was finished ${on(at, times)}`,
    citations === 0 ? 'no citation that could be checked was found in the thesis' : null,
    unchecked > 0 ? notChecked(unchecked, citations, times) : null,
    unreadOfAll(situation, times),
    later > 0 ? `${plural(later, 'file', times)} uploaded later ${later === 1 ? 'is' : 'are'} not part of it` : null,
  ];
}

function notChecked(n: number, of: number, times: AnswerTimes): string {
  return of === 1 ? 'its only citation could not be checked' : `${times.number(n)} of its ${times.number(of)} citations could not be checked`;
}

function filesRead({ read, files, unread }: Situation & { kind: 'files_read' }, times: AnswerTimes): Clause[] {
  if (files === 1) return ['Your file has been read', 'no report has been started yet'];
  const all = read === files ? `All of your ${times.number(files)} files have been read` : `${times.number(read)} of your ${times.number(files)} files ${read === 1 ? 'has' : 'have'} been read`;
  return [all, unreadOfAll({ files, unread }, times), 'no report has been started yet'];
}

/** Why a report could not be made, and what to do. */
const reportFailures: Record<string, string[]> = {
  thesis_erased: ['Your report could not be made because the thesis is no longer stored with us', 'please upload it again and start a new report'],
  took_too_long: ['Your report could not be made because collecting the citations of the thesis takes longer than we allow for', 'please save the thesis in a simpler form or split it, upload it again and start a new report'],
  used_too_much_memory: ['Your report could not be made because the thesis is too large to be examined in one piece', 'please split it, upload the parts and start a new report'],
  no_citation_checked: ['Your report could not be made because none of its citations could be checked on our side', 'your documents are kept, so please start a new report, and reply to this message if that does not help'],
  internal: ['Your report could not be made because of a fault on our side', 'your documents are kept, so please start a new report, and reply to this message if that does not help'],
};

function underWay(situation: UnderWay, times: AnswerTimes): Clause[] {
  const { pace, continued, unchecked, step } = situation;
  return [
    `${head(situation, times)}: ${progress(situation, times)}`,
    step === 'checks' && unchecked > 0 ? `${times.number(unchecked)} could not be checked` : null,
    unreadOfAll(situation, times),
    continued && continuedWords[continued],
    pace.kind === 'interrupted' ? 'the work was interrupted on our side and will continue automatically, and nothing needs to be uploaded again' : null,
    pace.kind === 'retry' ? `one step did not succeed and will be tried again automatically ${on(pace.at, times)}` : null,
    pace.kind === 'slow' ? 'this step is taking longer than usual' : null,
    expected(situation, times),
  ];
}

const continuedWords = {
  update: 'the work was continued after an update of our software, and nothing was lost',
  interruption: 'the work was continued after an interruption on our side, and nothing was lost',
};

function head(situation: UnderWay, times: AnswerTimes): string {
  const { goal, pace } = situation;
  const subject = goal === 'report' ? 'Your report' : 'Your upload';
  if (pace.kind === 'queued') return `${subject} is ${turn(situation, pace, times)}`;
  if (pace.kind === 'own_turn') return `${subject} is waiting until another report of yours has been checked`;
  return holdWords[pace.kind] ? `${subject} is on hold because ${holdWords[pace.kind]!}` : `${subject} is ${goal === 'report' ? 'on its way' : 'being processed'}`;
}

const holdWords: Partial<Record<Pace['kind'], string>> = {
  paused: 'processing is paused on our side',
  outage: 'a service that we rely on is not answering at the moment',
  no_worker: 'our processing is not available at the moment',
};

function turn({ step }: UnderWay, { ahead }: Pace & { kind: 'queued' }, times: AnswerTimes): string {
  if (ahead === 0) return 'next in line';
  const [one, many] = { files: ['file', 'files'], indexing: ['upload', 'uploads'], reading: ['report', 'reports'], checks: ['report', 'reports'] }[step];
  const others = ahead >= AHEAD_CAP ? `more than ${times.number(AHEAD_CAP - 1)} other ${many}` : `${times.number(ahead)} other ${ahead === 1 ? one : many}`;
  return step === 'checks' ? `waiting while the citations of ${others} are being checked` : `waiting its turn behind ${others}`;
}

/** Whether somebody is at it just now. */
const atWork = (pace: Pace) => pace.kind === 'moving' || pace.kind === 'slow';

function progress({ step, pace, done, total }: UnderWay, times: AnswerTimes): string {
  if (step === 'reading') return atWork(pace) ? 'the citations in your thesis are being collected' : 'the citations in your thesis have not been collected yet';
  if (step === 'indexing') return done === 1 ? 'your file has been read and is being prepared' : `your ${times.number(done)} files have been read and are being prepared`;
  if (step === 'checks' && total === 1) return 'its only citation has not been checked yet';
  if (step === 'files' && total === 1) return atWork(pace) ? 'your file is being read' : 'your file has not been read yet';
  const [what, participle] = step === 'files' ? ['files', 'read'] : ['citations', 'checked'];
  if (done === 0) return `none of ${step === 'files' ? 'your ' : 'its '}${times.number(total)} ${what} has been ${participle} yet`;
  return `${times.number(done)} of ${times.number(total)} ${what} ${done === 1 ? 'has' : 'have'} been ${participle}`;
}

function expected({ goal, eta }: UnderWay, times: AnswerTimes): string {
  if (!eta) return 'we cannot give a time for it yet';
  const { from, to } = wholeMinutes(eta);
  const range = times.sameDay(from, to) ? `between ${times.clock(from)} and ${times.clock(to)} ${times.zone(to)} on ${times.date(to)}`
    : `between ${times.clock(from)} ${times.zone(from)} on ${times.date(from)} and ${times.clock(to)} ${times.zone(to)} on ${times.date(to)}`;
  return `it is expected to be ${goal === 'report' ? 'ready' : 'done'} ${range}`;
}

function unreadOfAll({ files, unread }: { files: number; unread: Unread[] }, times: AnswerTimes): Clause {
  if (unread.length === 0) return null;
  const n = unread.reduce((sum, each) => sum + each.n, 0);
  return files === 1 ? `your file could not be read: ${why(unread, times)}` : `${times.number(n)} of your ${times.number(files)} files could not be read: ${why(unread, times)}`;
}

function why(unread: readonly Unread[], times: AnswerTimes): string {
  const alone = unread.length === 1;
  return times.list(unread.map(({ code, n }) => {
    const [one, many, advice, advices] = fileFailures[code] ?? fileFailures.internal!;
    if (n > 1) return `${alone ? 'they' : times.number(n)} ${many} (please ${advices})`;
    return `${alone ? 'it' : times.number(1)} ${one} (please ${advice})`;
  }));
}

/** By item error code: what is true of one, of several, and what to do. */
const fileFailures: Record<string, [string, string, string, string]> = {
  password_required: ['is protected by a password', 'are protected by a password', 'remove the protection and upload it again', 'remove the protection and upload them again'],
  not_a_pdf: ['is not in the PDF format', 'are not in the PDF format', 'export it as a PDF and upload that', 'export them as PDFs and upload those'],
  damaged_pdf: ['is damaged', 'are damaged', 'export it anew and upload it again', 'export them anew and upload them again'],
  no_text: ['is a scan without text', 'are scans without text', 'run text recognition (OCR) on it and upload the result', 'run text recognition (OCR) on them and upload the results'],
  too_many_pages: ['has more pages than we can read', 'have more pages than we can read', 'split it and upload the parts', 'split them and upload the parts'],
  took_too_long: ['takes longer to read than we allow for', 'take longer to read than we allow for', 'save it in a simpler form or split it, and upload it again', 'save them in a simpler form or split them, and upload them again'],
  used_too_much_memory: ['is too large to be read in one piece', 'are too large to be read in one piece', 'split it or reduce its images, and upload it again', 'split them or reduce their images, and upload them again'],
  parser_crashed: ['could not be opened', 'could not be opened', 'export it anew and upload it again', 'export them anew and upload them again'],
  worker_lost: ['was interrupted too often on our side', 'were interrupted too often on our side', 'upload it again, and reply to this message if that does not help', 'upload them again, and reply to this message if that does not help'],
  cancelled: ['was cancelled', 'were cancelled', 'upload it again if it is still needed', 'upload them again if they are still needed'],
  blob_expired: ['waited too long on our side', 'waited too long on our side', 'upload it again', 'upload them again'],
  internal: ['met a fault on our side', 'met a fault on our side', 'upload it again, and reply to this message if that does not help', 'upload them again, and reply to this message if that does not help'],
};

function plural(n: number, one: string, times: AnswerTimes): string {
  return `${times.number(n)} ${n === 1 ? one : `${one}s`}`;
}
