import type { Bibliography, BibliographyEntry } from './bibliography.js';
import type { Cited } from './found-mark.js';
import { bareNameKey, nameKey } from './names.js';

export type Unresolved = 'no_bibliography' | 'author_not_in_bibliography' | 'year_not_in_bibliography' | 'label_not_in_bibliography' | 'ambiguous' | 'note_not_understood';

export type Resolution =
  | { entry: BibliographyEntry; /** Names of the mark that turned out to be no part of it. */ skippedNames: number }
  | { entry: null; reason: Unresolved };

/** Finds works in a list of references. */
export class Resolver {
  private readonly byLabel = new Map<string, BibliographyEntry>();
  private readonly byYear = new Map<number, Known[]>();
  private readonly byName = new Map<string, Known[]>();

  constructor(private readonly bibliography: Bibliography) {
    for (const entry of bibliography.entries) {
      const known = knownOf(entry);
      if (entry.label !== null) this.byLabel.set(entry.label, entry);
      if (entry.year !== null) push(this.byYear, entry.year, known);
      for (const name of known.first) push(this.byName, name, known);
    }
  }

  resolve(cited: Cited): Resolution {
    if (this.bibliography.entries.length === 0) return { entry: null, reason: 'no_bibliography' };
    if (cited.by === 'label') {
      const entry = this.byLabel.get(cited.label);
      return entry ? { entry, skippedNames: 0 } : { entry: null, reason: 'label_not_in_bibliography' };
    }
    return cited.by === 'note' ? this.byShortTitle(cited.text) : this.byAuthorYear(cited);
  }

  /** The names from the first, then without it, and so on: "In Germany, Müller and Koch (2004)". */
  private byAuthorYear(cited: Cited & { by: 'author_year' }): Resolution {
    const sameYear = (this.byYear.get(cited.year) ?? []).filter(({ entry }) => cited.suffix === '' || entry.yearSuffix === cited.suffix || entry.yearSuffix === '');
    for (let skippedNames = 0; skippedNames < cited.names.length; skippedNames++) {
      const names = cited.names.slice(skippedNames);
      const best = bestOf(sameYear.map((known) => ({ known, score: authorScore(known, names, cited.etAl) })));
      if (best === 'ambiguous') return { entry: null, reason: 'ambiguous' };
      if (best) return { entry: best.entry, skippedNames };
    }
    const author = keysOf(cited.names.at(-1) ?? '').some((key) => this.byName.has(key)) || keysOf(cited.names[0] ?? '').some((key) => this.byName.has(key));
    return { entry: null, reason: author ? 'year_not_in_bibliography' : 'author_not_in_bibliography' };
  }

  /** "Vgl. Müller, Schätzen, S. 12": an author, and words of the title if he has several works. */
  private byShortTitle(text: string): Resolution {
    const words = text.match(/\p{L}[\p{L}'’-]*/gu) ?? [];
    const keys = words.slice(0, 8).flatMap((word) => (/^\p{Lu}/u.test(word) ? keysOf(word) : []));
    const candidates = keys.flatMap((key) => this.byName.get(key) ?? []);
    const own = new Set(words.map((word) => nameKey(word)).filter((word) => word.length > 3));
    const best = bestOf([...new Set(candidates)].map((known) => ({ known, score: 1 + [...known.titleWords].filter((word) => own.has(word)).length })));
    if (best === 'ambiguous') return { entry: null, reason: 'ambiguous' };
    return best ? { entry: best.entry, skippedNames: 0 } : { entry: null, reason: 'note_not_understood' };
  }
}

interface Known {
  entry: BibliographyEntry;
  /** Spellings of the first author. */
  first: string[];
  others: string[];
  titleWords: Set<string>;
}

function knownOf(entry: BibliographyEntry): Known {
  const titleWords = (entry.title ?? '').match(/\p{L}{4,}/gu) ?? [];
  return {
    entry,
    first: [...keysOf(entry.authors[0] ?? ''), ...entry.aliases.map(nameKey)].filter((key) => key !== ''),
    others: entry.authors.slice(1).flatMap(spellings),
    titleWords: new Set(titleWords.map(nameKey)),
  };
}

/** How well names of a mark fit an entry; 0 is not at all. */
function authorScore(known: Known, names: readonly string[], etAl: boolean): number {
  const [first, ...others] = names;
  const isFirst = keysOf(first ?? '').some((key) => known.first.includes(key));
  const total = known.entry.authors.length;
  // The first author got lost across a page: a co-author alone is enough where nothing else fits.
  if (!isFirst) return others.length === 0 && !etAl && keysOf(first ?? '').some((key) => known.others.includes(key)) ? 1 : 0;
  if (!others.every((name) => keysOf(name).some((key) => known.others.includes(key)))) return 0;
  if (etAl) return total > names.length ? 4 : 2;
  return total === names.length ? 4 : 2;
}

function bestOf(scored: readonly { known: Known; score: number }[]): Known | 'ambiguous' | undefined {
  const top = Math.max(0, ...scored.map(({ score }) => score));
  if (top === 0) return undefined;
  const best = scored.filter(({ score }) => score === top);
  return best.length > 1 ? 'ambiguous' : best[0]?.known;
}

function spellings(name: string): string[] {
  return [...new Set([nameKey(name), bareNameKey(name)])];
}

/** Spellings, and those without a possessive: "Müllers (2004)", "Zeileis’". */
function keysOf(name: string): string[] {
  const possessive = /^(?<owner>.{3,}?)['’]?s?['’]?$/u.exec(name)?.groups?.owner;
  return [...new Set([...spellings(name), ...(possessive && possessive !== name ? spellings(possessive) : [])])].filter((key) => key !== '');
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
