import { describe, expect, test } from 'vitest';
import { itemErrorCodes } from '../../server/api/item-errors.js';
import type { Situation, UnderWay, Unread } from '../../server/console/answer.js';
import { answerOf } from '../../server/console/answer.js';
import { isTimeZone } from '../../server/console/answer-time.js';
import type { Pace, Step } from '../../server/console/journey-pace.js';
import { situations as built } from './journey-situations.js';

const at = Date.UTC(2026, 10, 30, 14, 2, 31);
const paces: Pace[] = [
  { kind: 'moving' }, { kind: 'slow', idleMs: 90_000, usualMs: 2_000, lastBeatAt: at }, { kind: 'interrupted', at }, { kind: 'paused', since: at }, { kind: 'outage', at }, { kind: 'no_worker' },
  { kind: 'retry', at }, { kind: 'own_turn' }, { kind: 'queued', ahead: 0 }, { kind: 'queued', ahead: 1 }, { kind: 'queued', ahead: 12 }, { kind: 'queued', ahead: 1_001 },
];
const steps: Step[] = ['files', 'indexing', 'reading', 'checks'];
const reportCodes = [...itemErrorCodes, 'thesis_erased', 'no_citation_checked', 'no_item_succeeded', 'reader_crashed', 'model_refused', 'model_invalid', 'embeddings_refused', 'unheard_of'];

const underWay = (more: Partial<UnderWay> = {}): UnderWay => ({ kind: 'under_way', goal: 'report', step: 'checks', pace: { kind: 'moving' }, done: 51, total: 84, unchecked: 0, files: 3, unread: [], continued: null, eta: null, ...more });

/** Every sentence that can be said, in every grammatical number that it has. */
function everySituation(): Situation[] {
  const counts = [[0, 1], [1, 1], [0, 2], [1, 2], [1_204, 2_500]] as const;
  const unread: Unread[][] = [[], ...[...itemErrorCodes, 'unheard_of'].flatMap((code) => [1, 2, 1_204].map((n) => [{ code, n }])), itemErrorCodes.map((code, n) => ({ code, n: n + 1 }))];
  const ways = steps.flatMap((step) => paces.flatMap((pace) => counts.flatMap(([done, total]) => (['report', 'upload'] as const).flatMap((goal) => ([null, 'update', 'interruption'] as const).flatMap((continued) =>
    [null, { from: at, to: at + 1 }, { from: at, to: at + 11 * 3_600_000 }].map((eta) => underWay({ step, pace, done, total, goal, continued, eta, unchecked: done })))))));
  return [
    { kind: 'not_found' }, { kind: 'cancelled', at }, { kind: 'reset' }, { kind: 'documents', n: 1 }, { kind: 'documents', n: 1_204 }, ...ways,
    ...unread.flatMap((each): Situation[] => [
      underWay({ unread: each }), ...(each.length > 0 ? [1, 2_500].map((files): Situation => ({ kind: 'files_unread', files, unread: each })) : []), { kind: 'files_read', read: 1, files: 2, unread: each },
      { kind: 'files_read', read: 2, files: 2, unread: each }, { kind: 'files_read', read: 1, files: 1, unread: each }, { kind: 'finished', at, citations: 84, unchecked: 1, files: 3, unread: each, later: 1 },
    ]),
    ...[0, 1, 84].flatMap((citations) => [0, 1, 2].map((n): Situation => ({ kind: 'finished', at, citations, unchecked: Math.min(n, citations), files: 1, unread: [], later: n }))),
    ...reportCodes.map((code): Situation => ({ kind: 'failed', code, files: 2, unread: [] })),
  ];
}

const everyAnswer = [...new Set([...everySituation().map((situation) => JSON.stringify(answerOf(situation))), ...built.map(({ en, de }) => JSON.stringify({ en, de }))])].map((json) => JSON.parse(json) as { en: string; de: string });
const sentences = { en: everyAnswer.map(({ en }) => en), de: everyAnswer.map(({ de }) => de) };

/** Our machinery, promises without a basis, and blame. Whole words and their inflections. */
const forbidden = {
  machinery: /\b(leases?|leased|workers?|queues?|queued|tokens?|heartbeats?|beats?|sweeps?|swept|sweeper|re-?deploy\w*|deploy\w*|postgres\w*|databases?|sql|stale|poison\w*|claim(s|ed)?|jobs?|rows?|pars(e|ed|er|ers|ing)|poll(s|ed|ing)?|kick(s|ed)?|drain(s|ed|ing)?|breakers?|backoff|retry|retries|attempts?|orchestrator|embedd\w*|chunks?|index\w*|api|json|uuid|null|undefined|nan|http\w*|server|node|process|container|thread|memory|crash\w*|bytes?|blob|sessions?|ids?|model|llm|[a-z]+_[a-z_]+)\b/i,
  german: /\b(lease|worker|warteschlange\w*|queue|token|herzschlag\w*|herzschläge|sweep|deployment\w*|redeploy\w*|datenbank\w*|postgres|job\w*|zeilen?|pars\w*|giftig\w*|behauptung\w*|absturz|abgestürzt|speicher|server|prozess\w*|container|sitzung\w*|session\w*|modell\w*|wiederholversuch\w*|kennung\w*|[a-z]+_[a-z_]+)\b/i,
  soon: /\b(soon|shortly|in a moment|any minute|immediately|right away|bald\w*|demnächst|in kürze|gleich|sofort|umgehend|jeden moment)\b/i,
  blame: /\b(your (own )?(fault|mistake|error)|you (have )?(failed|forgot|forgotten|broke|should have|did not|didn't)|wrong(ly)?|invalid|incorrect|unfortunately|ihr(e|en|em)? fehler|ihre schuld|falsch\w*|ungültig\w*|leider|versäumt|vergessen)\b/i,
};

test('every variant is there to be looked at', () => {
  expect(sentences.en.length).toBeGreaterThan(500);
});

describe.each(Object.entries(forbidden))('no answer holds a word of %s', (_kind, pattern) => {
  test.each(['en', 'de'] as const)('in %s', (language) => {
    expect(sentences[language].filter((sentence) => pattern.test(sentence)).map((sentence) => `${pattern.exec(sentence)![0]}: ${sentence}`)).toEqual([]);
  });
});

test('the list of forbidden words finds them', () => {
  expect(forbidden.machinery.test('The worker lost its lease.') && forbidden.machinery.test('It failed with no_text.') && forbidden.german.test('Ihr Bericht steht in der Warteschlange.')).toBe(true);
  expect(forbidden.soon.test('Ihr Bericht ist in Kürze fertig.') && forbidden.soon.test('It will be ready soon.') && forbidden.blame.test('Sie haben die falsche Datei hochgeladen.')).toBe(true);
});

test('each answer is one sentence, and addresses the customer formally', () => {
  for (const { en, de } of everyAnswer) {
    for (const sentence of [en, de]) expect(sentence).toMatch(/^[A-Z\d][^!?\n]*[^.;:, ]\.$/);
    expect(en).not.toMatch(/[.!?] |;;|: ;| {2}|\(\)/);
    // A date in German has its dots.
    expect(de.replace(/\d+\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)/g, 'Tag')).not.toMatch(/[.!?] |;;|: ;| {2}|\(\)/);
    expect(de).not.toMatch(/Sie (haben|hätten|sollten|müssten)\b/);
    expect(de).not.toMatch(/\b(du|dein\w*|dich|dir|euch|euer\w*)\b/i);
  }
});

test('an instant is never told without its zone, nor an end without an instant', () => {
  for (const { en, de } of everyAnswer) {
    for (const [clock] of en.matchAll(/\d\d:\d\d(?! and \d)[^;.]{0,4}/g)) expect(clock).toMatch(/UTC/);
    if (/\d\d:\d\d/.test(de)) expect(de).toMatch(/Uhr \(UTC\)/);
    if (/expected/.test(en)) expect(en).toMatch(/\d\d:\d\d|<range>/);
    if (/voraussichtlich/.test(de)) expect(de).toMatch(/\d\d:\d\d|<range>/);
  }
});

test('each file error has its own advice in both languages, and none is left to guess', () => {
  const advice = (code: string, n: number) => answerOf({ kind: 'files_unread', files: n, unread: [{ code, n }] });
  for (const language of ['en', 'de'] as const) {
    expect(new Set(itemErrorCodes.map((code) => advice(code, 1)[language])).size).toBe(itemErrorCodes.length);
    expect(new Set(itemErrorCodes.map((code) => advice(code, 2)[language])).size).toBe(itemErrorCodes.length);
  }
  for (const code of itemErrorCodes) expect([advice(code, 1).en, advice(code, 1).de]).toEqual([expect.stringMatching(/\(please /), expect.stringMatching(/\(bitte /)]);
});

test('numbers, plurals, days and zones are those of the language', () => {
  expect(answerOf(underWay({ done: 1_204, total: 2_500 }))).toEqual({
    en: 'Your report is on its way: 1,204 of 2,500 citations have been checked; we cannot give a time for it yet.',
    de: 'Ihr Bericht ist in Arbeit: 1.204 von 2.500 Zitaten sind geprüft; ein Zeitpunkt lässt sich noch nicht nennen.',
  });
  expect(answerOf(underWay({ done: 1 })).en).toContain('1 of 84 citations has been checked');
  expect(answerOf(underWay({ done: 1 })).de).toContain('1 von 84 Zitaten ist geprüft');
  const midnight = Date.UTC(2026, 11, 31, 23, 50);
  const overnight = answerOf(underWay({ eta: { from: midnight, to: midnight + 20 * 60_000 } }));
  expect(overnight.en).toContain('between 23:50 UTC on 31 December 2026 and 00:10 UTC on 1 January 2027');
  expect(overnight.de).toContain('zwischen 31. Dezember 2026, 23:50 Uhr (UTC), und 1. Januar 2027, 00:10 Uhr (UTC), fertig');
  expect(answerOf({ kind: 'cancelled', at }, 'Europe/Berlin')).toEqual({
    en: 'Your report was cancelled on 30 November 2026 at 15:02 CET; it can be started again at any time.',
    de: 'Ihr Bericht wurde am 30. November 2026 um 15:02 Uhr (MEZ) abgebrochen; er kann jederzeit neu gestartet werden.',
  });
  expect(answerOf(underWay({ pace: { kind: 'queued', ahead: 1_001 }, step: 'files', done: 0, total: 2 }))).toEqual({
    en: 'Your report is waiting its turn behind more than 1,000 other files: none of your 2 files has been read yet; we cannot give a time for it yet.',
    de: 'Ihr Bericht wartet auf mehr als 1.000 andere Dateien, die vorher an der Reihe sind: von Ihren 2 Dateien ist noch keine gelesen; ein Zeitpunkt lässt sich noch nicht nennen.',
  });
});

test('a range is told in whole minutes that contain it', () => {
  expect(answerOf(underWay({ eta: { from: at, to: at + 1 } })).en).toContain('between 14:02 and 14:03 UTC on 30 November 2026');
  expect(answerOf(underWay({ eta: { from: at + 28_999, to: at + 29_001 } })).en).toContain('between 14:02 and 14:04 UTC');
});

test('a zone that does not exist is none', () => {
  expect(['UTC', 'Europe/Berlin', 'Mars/Olympus', '', '../etc'].map(isTimeZone)).toEqual([true, true, false, false, false]);
});
