import type { Line } from './lines.js';

/** Lines of a list of references, from the one after its heading; `start` and `end` are indexes, `end` exclusive. */
export interface Section {
  heading: number;
  start: number;
  end: number;
}

const NUMBERING = '(?:(?:\\d{1,2}(?:\\.\\d{1,2})*|[A-Z]|[IVX]{1,5})[.)]?\\s+)?';
const TITLES = [
  'references?(?: cited| and notes)?', 'list of references', 'reference list', 'bibliography', 'works cited', 'literature(?: cited)?', 'sources',
  'literatur', 'literatur(?:verzeichnis|angaben|liste|nachweise)?', 'verwendete literatur', 'quellen', 'quellenverzeichnis', 'quellenangaben',
  'literatur-? und quellen(?:verzeichnis)?', 'quellen-? und literatur(?:verzeichnis)?', 'bibliogra(?:ph|f)ie', 'referenzen',
];
const HEADING = new RegExp(`^${NUMBERING}(?:${TITLES.join('|')})\\s*:?$`, 'iu');
const END = /^(?:(?:[A-Z]|\d{1,2}|[IVX]{1,5})[.)]?\s+)?(?:appendi(?:x|ces)\b|anhang\b|anlagen?\b|eidesstattliche|ehrenwörtliche|selbst(?:st)?ändigkeitserklärung|erklärung\b|affiliation\b|acknowledge?ments?\b|danksagung\b|lebenslauf\b|curriculum vitae\b|abbildungsverzeichnis\b|tabellenverzeichnis\b|list of (?:figures|tables)\b|index\b|glossar)/iu;
/** "A. Simulation results for panel data": an appendix's heading, no author with initials. */
const LETTERED = /^[A-H]\.?\s\p{Lu}[\p{L}-]+(?:\s[\p{L}()\d-]+){2,}$/u;
export const YEAR_TOKEN = /(?<![\d./-])(?:1[5-9]|20)\d\d[a-z]?(?![\d/])/u;
/** Lines that may pass without a year before the list counts as over: one long entry with a long address. */
const MAX_LINES_WITHOUT_YEAR = 14;

/** The lists of references: the last one, and earlier ones (a list a chapter) if they hold entries as well. */
export function findSections(lines: readonly Line[]): Section[] {
  const sections: Section[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (!HEADING.test(lines[i]!.text)) continue;
    const end = endOf(lines, i + 1);
    if (yearsIn(lines.slice(i + 1, end)) < 1) continue;
    sections.push({ heading: i, start: i + 1, end });
    i = end - 1;
  }
  return sections;
}

function endOf(lines: readonly Line[], start: number): number {
  let lastYear = start;
  for (let i = start; i < lines.length; i++) {
    const { text, after } = lines[i]!;
    if (i > start && HEADING.test(text)) return i;
    if (END.test(text) || (after !== 'line' && LETTERED.test(text))) return i;
    if (YEAR_TOKEN.test(text)) lastYear = i;
    else if (i - lastYear > MAX_LINES_WITHOUT_YEAR) return paragraphEnd(lines, lastYear);
  }
  return lines.length;
}

/** The entry with the last year ends with its paragraph. */
function paragraphEnd(lines: readonly Line[], from: number): number {
  let i = from + 1;
  while (i < lines.length && lines[i]!.after === 'line' && i - from < 4) i++;
  return i;
}

function yearsIn(lines: readonly Line[]): number {
  return lines.filter((line) => YEAR_TOKEN.test(line.text)).length;
}
