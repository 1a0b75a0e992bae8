/** The answer in German, with the formal Sie. */
import type { Situation, UnderWay, Unread } from './answer.js';
import type { AnswerTimes } from './answer-time.js';
import { wholeMinutes } from './answer-time.js';
import { AHEAD_CAP } from './journey-outlook.js';
import type { Pace } from './journey-pace.js';

export function german(situation: Situation, times: AnswerTimes): string {
  return `${clauses(situation, times).filter((clause) => clause !== null).join('; ')}.`;
}

type Clause = string | null;

function clauses(situation: Situation, times: AnswerTimes): Clause[] {
  switch (situation.kind) {
    case 'not_found': return ['Zu diesen Angaben konnten wir weder einen Upload noch einen Bericht finden', 'bitte prüfen Sie die Angaben, oder nennen Sie uns die verwendete E-Mail-Adresse'];
    case 'finished': return finished(situation, times);
    case 'failed': return [...(reportFailures[situation.code] ?? reportFailures.internal!), unreadOfAll(situation, times)];
    case 'cancelled': return [`Ihr Bericht wurde ${on(situation.at, times)} abgebrochen`, 'er kann jederzeit neu gestartet werden'];
    case 'reset': return ['Diesem Bericht sind keine Dokumente mehr zugeordnet, weil sie zurückgesetzt wurden', 'bitte laden Sie sie erneut hoch oder wählen Sie sie erneut aus, und starten Sie dann einen neuen Bericht'];
    case 'under_way': return underWay(situation, times);
    case 'files_read': return filesRead(situation, times);
    case 'files_unread': return [situation.files === 1 ? `Ihre Datei konnte nicht gelesen werden: ${why(situation.unread, times)}`
      : `Keine Ihrer ${times.number(situation.files)} Dateien konnte gelesen werden: ${why(situation.unread, times)}`];
    case 'documents': return [situation.n === 1 ? 'Ihr Dokument liegt bereit' : `Ihre ${times.number(situation.n)} Dokumente liegen bereit`, 'ein Bericht wurde noch nicht gestartet'];
  }
}

function on(at: number, times: AnswerTimes): string {
  return `am ${times.date(at)} um ${times.clock(at)} Uhr (${times.zone(at)})`;
}

function finished(situation: Situation & { kind: 'finished' }, times: AnswerTimes): Clause[] {
  const { at, citations, unchecked, later } = situation;
  return [
    `Ihr Bericht wurde ${on(at, times)} fertiggestellt`,
    citations === 0 ? 'in der Arbeit wurde kein Zitat gefunden, das geprüft werden konnte' : null,
    unchecked > 0 ? notChecked(unchecked, citations, times) : null,
    unreadOfAll(situation, times),
    later > 0 ? `${later === 1 ? '1 später hochgeladene Datei ist' : `${times.number(later)} später hochgeladene Dateien sind`} darin nicht enthalten` : null,
  ];
}

function notChecked(n: number, of: number, times: AnswerTimes): string {
  if (of === 1) return 'das einzige Zitat konnte nicht geprüft werden';
  return `${times.number(n)} von ${times.number(of)} Zitaten ${n === 1 ? 'konnte' : 'konnten'} nicht geprüft werden`;
}

function filesRead({ read, files, unread }: Situation & { kind: 'files_read' }, times: AnswerTimes): Clause[] {
  if (files === 1) return ['Ihre Datei ist gelesen', 'ein Bericht wurde noch nicht gestartet'];
  const all = read === files ? `Alle Ihre ${times.number(files)} Dateien sind gelesen` : `${times.number(read)} Ihrer ${times.number(files)} Dateien ${read === 1 ? 'ist' : 'sind'} gelesen`;
  return [all, unreadOfAll({ files, unread }, times), 'ein Bericht wurde noch nicht gestartet'];
}

/** Why a report could not be made, and what to do. */
const reportFailures: Record<string, string[]> = {
  thesis_erased: ['Ihr Bericht konnte nicht erstellt werden, weil die Arbeit bei uns nicht mehr gespeichert ist', 'bitte laden Sie sie erneut hoch, und starten Sie einen neuen Bericht'],
  took_too_long: ['Ihr Bericht konnte nicht erstellt werden, weil das Zusammenstellen der Zitate länger dauert, als wir vorsehen', 'bitte speichern Sie die Arbeit in einer einfacheren Form oder teilen Sie sie auf, laden Sie sie erneut hoch, und starten Sie einen neuen Bericht'],
  used_too_much_memory: ['Ihr Bericht konnte nicht erstellt werden, weil die Arbeit zu umfangreich ist, um in einem Stück untersucht zu werden', 'bitte teilen Sie sie auf, laden Sie die Teile hoch, und starten Sie einen neuen Bericht'],
  no_citation_checked: ['Ihr Bericht konnte nicht erstellt werden, weil auf unserer Seite keines der Zitate geprüft werden konnte', 'Ihre Dokumente sind weiterhin vorhanden, bitte starten Sie daher einen neuen Bericht, und antworten Sie auf diese Nachricht, falls das nicht hilft'],
  internal: ['Ihr Bericht konnte wegen eines Fehlers auf unserer Seite nicht erstellt werden', 'Ihre Dokumente sind weiterhin vorhanden, bitte starten Sie daher einen neuen Bericht, und antworten Sie auf diese Nachricht, falls das nicht hilft'],
};

function underWay(situation: UnderWay, times: AnswerTimes): Clause[] {
  const { pace, continued, unchecked, step } = situation;
  return [
    `${head(situation, times)}: ${progress(situation, times)}`,
    step === 'checks' && unchecked > 0 ? `${times.number(unchecked)} ${unchecked === 1 ? 'konnte' : 'konnten'} nicht geprüft werden` : null,
    unreadOfAll(situation, times),
    continued && continuedWords[continued],
    pace.kind === 'interrupted' ? 'die Arbeit daran wurde auf unserer Seite unterbrochen und wird automatisch fortgesetzt, Sie müssen nichts erneut hochladen' : null,
    pace.kind === 'retry' ? `ein Schritt ist nicht gelungen und wird ${on(pace.at, times)} automatisch wiederholt` : null,
    pace.kind === 'slow' ? 'dieser Schritt dauert länger als üblich' : null,
    expected(situation, times),
  ];
}

const continuedWords = {
  update: 'die Arbeit daran wurde nach einem Update unserer Software fortgesetzt, und nichts ging verloren',
  interruption: 'die Arbeit daran wurde nach einer Unterbrechung auf unserer Seite fortgesetzt, und nichts ging verloren',
};

function head(situation: UnderWay, times: AnswerTimes): string {
  const { goal, pace } = situation;
  const subject = goal === 'report' ? 'Ihr Bericht' : 'Ihr Upload';
  if (pace.kind === 'queued') return `${subject} ${turn(situation, pace, times)}`;
  if (pace.kind === 'own_turn') return `${subject} wartet, bis ein anderer Bericht von Ihnen geprüft ist`;
  if (holdWords[pace.kind]) return `${subject} ruht, weil ${holdWords[pace.kind]!}`;
  return goal === 'report' ? `${subject} ist in Arbeit` : `${subject} wird verarbeitet`;
}

const holdWords: Partial<Record<Pace['kind'], string>> = {
  paused: 'die Verarbeitung auf unserer Seite angehalten ist',
  outage: 'ein Dienst, auf den wir angewiesen sind, zurzeit nicht antwortet',
  no_worker: 'unsere Verarbeitung zurzeit nicht verfügbar ist',
};

/** One in the accusative with its relative pronoun, and several. */
const others = {
  files: ['1 andere Datei, die', 'andere Dateien, die'],
  indexing: ['1 anderen Upload, der', 'andere Uploads, die'],
  reading: ['1 anderen Bericht, der', 'andere Berichte, die'],
} as const;

function turn({ step }: UnderWay, { ahead }: Pace & { kind: 'queued' }, times: AnswerTimes): string {
  if (ahead === 0) return 'ist als Nächstes an der Reihe';
  const n = ahead >= AHEAD_CAP ? `mehr als ${times.number(AHEAD_CAP - 1)}` : times.number(ahead);
  if (step === 'checks') return `wartet, während die Zitate ${ahead === 1 ? 'eines anderen Berichts' : `von ${n} anderen Berichten`} geprüft werden`;
  const [one, many] = others[step];
  return ahead === 1 ? `wartet auf ${one} vorher an der Reihe ist` : `wartet auf ${n} ${many} vorher an der Reihe sind`;
}

/** Whether somebody is at it just now. */
const atWork = (pace: Pace) => pace.kind === 'moving' || pace.kind === 'slow';

function progress({ step, pace, done, total }: UnderWay, times: AnswerTimes): string {
  if (step === 'reading') return atWork(pace) ? 'die Zitate in Ihrer Arbeit werden zusammengestellt' : 'die Zitate in Ihrer Arbeit sind noch nicht zusammengestellt';
  if (step === 'indexing') return done === 1 ? 'Ihre Datei ist gelesen und wird vorbereitet' : `Ihre ${times.number(done)} Dateien sind gelesen und werden vorbereitet`;
  if (step === 'checks' && total === 1) return 'das einzige Zitat ist noch nicht geprüft';
  if (step === 'files' && total === 1) return atWork(pace) ? 'Ihre Datei wird gelesen' : 'Ihre Datei ist noch nicht gelesen';
  const [what, none, participle] = step === 'files' ? ['Dateien', 'keine', 'gelesen'] : ['Zitaten', 'keines', 'geprüft'];
  if (done === 0) return `von ${step === 'files' ? 'Ihren ' : ''}${times.number(total)} ${what} ist noch ${none} ${participle}`;
  return `${times.number(done)} von ${times.number(total)} ${what} ${done === 1 ? 'ist' : 'sind'} ${participle}`;
}

function expected({ eta }: UnderWay, times: AnswerTimes): string {
  if (!eta) return 'ein Zeitpunkt lässt sich noch nicht nennen';
  const { from, to } = wholeMinutes(eta);
  const range = times.sameDay(from, to) ? `am ${times.date(to)} zwischen ${times.clock(from)} und ${times.clock(to)} Uhr (${times.zone(to)})`
    : `zwischen ${times.date(from)}, ${times.clock(from)} Uhr (${times.zone(from)}), und ${times.date(to)}, ${times.clock(to)} Uhr (${times.zone(to)}),`;
  return `er ist voraussichtlich ${range} fertig`;
}

function unreadOfAll({ files, unread }: { files: number; unread: Unread[] }, times: AnswerTimes): Clause {
  if (unread.length === 0) return null;
  const n = unread.reduce((sum, each) => sum + each.n, 0);
  if (files === 1) return `Ihre Datei konnte nicht gelesen werden: ${why(unread, times)}`;
  return `${times.number(n)} von Ihren ${times.number(files)} Dateien ${n === 1 ? 'konnte' : 'konnten'} nicht gelesen werden: ${why(unread, times)}`;
}

function why(unread: readonly Unread[], times: AnswerTimes): string {
  const alone = unread.length === 1;
  return times.list(unread.map(({ code, n }) => {
    const [one, many, advice, advices] = fileFailures[code] ?? fileFailures.internal!;
    if (n > 1) return `${alone ? 'sie' : times.number(n)} ${many} (bitte ${advices})`;
    return `${alone ? 'sie' : times.number(1)} ${one} (bitte ${advice})`;
  }));
}

/** By item error code: what is true of one, of several, and what to do. */
const fileFailures: Record<string, [string, string, string, string]> = {
  password_required: ['ist mit einem Passwort geschützt', 'sind mit einem Passwort geschützt', 'entfernen Sie den Schutz und laden Sie sie erneut hoch', 'entfernen Sie den Schutz und laden Sie sie erneut hoch'],
  not_a_pdf: ['liegt nicht im PDF-Format vor', 'liegen nicht im PDF-Format vor', 'exportieren Sie sie als PDF und laden Sie dieses hoch', 'exportieren Sie sie als PDF und laden Sie diese hoch'],
  damaged_pdf: ['ist beschädigt', 'sind beschädigt', 'exportieren Sie sie neu und laden Sie sie erneut hoch', 'exportieren Sie sie neu und laden Sie sie erneut hoch'],
  no_text: ['ist ein Scan ohne Text', 'sind Scans ohne Text', 'führen Sie eine Texterkennung (OCR) durch und laden Sie das Ergebnis hoch', 'führen Sie eine Texterkennung (OCR) durch und laden Sie die Ergebnisse hoch'],
  too_many_pages: ['hat mehr Seiten, als wir lesen können', 'haben mehr Seiten, als wir lesen können', 'teilen Sie sie auf und laden Sie die Teile hoch', 'teilen Sie sie auf und laden Sie die Teile hoch'],
  took_too_long: ['braucht zum Lesen länger, als wir vorsehen', 'brauchen zum Lesen länger, als wir vorsehen', 'speichern Sie sie in einer einfacheren Form oder teilen Sie sie auf, und laden Sie sie erneut hoch', 'speichern Sie sie in einer einfacheren Form oder teilen Sie sie auf, und laden Sie sie erneut hoch'],
  used_too_much_memory: ['ist zu groß, um in einem Stück gelesen zu werden', 'sind zu groß, um in einem Stück gelesen zu werden', 'teilen Sie sie auf oder verkleinern Sie die Bilder, und laden Sie sie erneut hoch', 'teilen Sie sie auf oder verkleinern Sie die Bilder, und laden Sie sie erneut hoch'],
  parser_crashed: ['ließ sich nicht öffnen', 'ließen sich nicht öffnen', 'exportieren Sie sie neu und laden Sie sie erneut hoch', 'exportieren Sie sie neu und laden Sie sie erneut hoch'],
  worker_lost: ['wurde auf unserer Seite zu oft unterbrochen', 'wurden auf unserer Seite zu oft unterbrochen', 'laden Sie sie erneut hoch, und antworten Sie auf diese Nachricht, falls das nicht hilft', 'laden Sie sie erneut hoch, und antworten Sie auf diese Nachricht, falls das nicht hilft'],
  cancelled: ['wurde abgebrochen', 'wurden abgebrochen', 'laden Sie sie erneut hoch, falls sie noch gebraucht wird', 'laden Sie sie erneut hoch, falls sie noch gebraucht werden'],
  blob_expired: ['hat auf unserer Seite zu lange gewartet', 'haben auf unserer Seite zu lange gewartet', 'laden Sie sie erneut hoch', 'laden Sie sie erneut hoch'],
  internal: ['stieß auf einen Fehler auf unserer Seite', 'stießen auf einen Fehler auf unserer Seite', 'laden Sie sie erneut hoch, und antworten Sie auf diese Nachricht, falls das nicht hilft', 'laden Sie sie erneut hoch, und antworten Sie auf diese Nachricht, falls das nicht hilft'],
};
