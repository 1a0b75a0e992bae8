import { cleanText } from '../db/text.js';

/** A UUID, or what somebody has of it: digits without hyphens, small. */
export interface IdForms {
  /** All 32 digits. */
  whole: string | null;
  /** First and last id that begins with what was typed: ids are compared as a range of the primary key. */
  range: [string, string] | null;
  /** At least the last eight digits. */
  tail: string | null;
}

/** Everything that one input may be. All of it is looked for; null means that it cannot be that. */
export interface FindForms {
  /** What was typed, cleaned: no quotes, no "mailto:", spaces collapsed. */
  text: string;
  /** An address, whole or its start. */
  email: string | null;
  /** A user, session or project of a product backend, or a process: any text without spaces around it. */
  name: string | null;
  /** How slugs are stored. */
  slug: string | null;
  id: IdForms;
  /** Spellings of a part of a file name. */
  fileNames: string[];
}

/** Longer input is no name of anything; ids from outside have at most 200 characters, file names 255. */
const LONGEST = 255;

/** The first eight digits of a UUIDv7 are the same for all rows of 65 seconds: a start is a name from twelve on. */
const SHORTEST_START = 12;
/** What the console shows of an id. */
const SHORTEST_TAIL = 8;
/** Trigrams need three characters; shorter starts and parts match half the database. */
const SHORTEST_PART = 3;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const ADDRESS = /[^\s@<>,;:"'()[\]]+@[^\s@<>,;:"'()[\]]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/u;

/** Pure; never throws. An address or a whole id inside a pasted line or link counts for the line. */
export function recogniseForms(input: string): FindForms {
  const typed = cleanText(input).slice(0, 4 * LONGEST).replace(/\s+/g, ' ').trim();
  const text = (UUID.exec(typed)?.[0] ?? ADDRESS.exec(typed)?.[0] ?? bare(typed)).slice(0, LONGEST).trim();
  const oneWord = text !== '' && !text.includes(' ');
  return {
    text,
    email: oneWord && text.length >= SHORTEST_PART ? text : null,
    name: text === '' ? null : text,
    slug: oneWord ? text.normalize('NFKC').toLowerCase().normalize('NFKC') : null,
    id: idForms(text),
    fileNames: [...text].length >= SHORTEST_PART ? spellings(text) : [],
  };
}

function bare(text: string): string {
  return text.replace(/^mailto:/i, '').replace(/^(?:…|\.\.\.)\s*/, '').replace(/^["'“”„‚‘’«»<({[]+|["'“”‘’«»>)}\],;]+$/gu, '').trim();
}

/** Hyphens may be anywhere: parts are copied with and without them. */
function idForms(text: string): IdForms {
  const digits = text.replace(/^urn:uuid:/i, '').replaceAll('-', '').toLowerCase();
  if (!/^[0-9a-f]{8,32}$/.test(digits)) return { whole: null, range: null, tail: null };
  if (digits.length === 32) return { whole: uuid(digits), range: null, tail: null };
  return {
    whole: null,
    range: digits.length >= SHORTEST_START ? [uuid(digits.padEnd(32, '0')), uuid(digits.padEnd(32, 'f'))] : null,
    tail: digits.length >= SHORTEST_TAIL ? digits : null,
  };
}

function uuid(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const UMLAUTS: [RegExp, string][] = [[/ä/gi, 'ae'], [/ö/gi, 'oe'], [/ü/gi, 'ue']];

/** Accents are taken off in the database. What remains is a habit of German keyboards: Müller is filed as Mueller, and the other way round. */
function spellings(text: string): string[] {
  const composed = text.normalize('NFC');
  const long = UMLAUTS.reduce((name, [letter, pair]) => name.replace(letter, pair), composed);
  const short = composed.replace(/([aou])e/gi, '$1');
  return [...new Set([composed, long, short])].filter((name) => [...name].length >= SHORTEST_PART);
}
