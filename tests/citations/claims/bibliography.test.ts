import { describe, expect, it } from 'vitest';
import { readEntry } from '../../../server/citations/claims/bibliography-entry.js';
import { claimsOf } from './small-thesis.js';

describe('an entry', () => {
  it.each<[entry: string, authors: string[], year: number | null, title: string]>([
    ['Abadie A, Athey S, Imbens GW (2017). “When Should You Adjust Standard Errors?” Technical report, NBER.', ['Abadie', 'Athey', 'Imbens'], 2017, 'When Should You Adjust Standard Errors'],
    ['Cribari-Neto F, Zeileis A (2010). “Beta Regression in R.” Journal of Statistical Software, 34(2), 1–24.', ['Cribari-Neto', 'Zeileis'], 2010, 'Beta Regression in R'],
    ['Christensen RHB (2019). ordinal: Regression Models for Ordinal Data. R package version 2019.12-10.', ['Christensen'], 2019, 'ordinal: Regression Models for Ordinal Data'],
    ['Müller, H., & Koch, A. (2004). Schätzen mit abhängigen Fehlern. Zeitschrift für Messung, 4(2), 1–20.', ['Müller', 'Koch'], 2004, 'Schätzen mit abhängigen Fehlern'],
    ['Müller, Hans/von der Heide, Petra (2004): Schätzen mit Fehlern. In: Zeitschrift für Messung 4, S. 1–20.', ['Müller', 'von der Heide'], 2004, 'Schätzen mit Fehlern'],
    ['Müller, Hans; Koch, Anna: Schätzen mit Fehlern. 2. Aufl. Berlin: Springer 1999.', ['Müller', 'Koch'], 1999, 'Schätzen mit Fehlern'],
    ['Müller, Hans und Anna Koch: Schätzen mit Fehlern, Berlin 1999.', ['Müller', 'Koch'], 1999, 'Schätzen mit Fehlern, Berlin 1999'],
    ['A. Zeileis, S. Köll, and N. Graham. Various versatile variances. Journal of Statistical Software 95(1), 1–36, 2020.', ['Zeileis', 'Köll', 'Graham'], 2020, 'Various versatile variances'],
    ['Müller H, Koch A. Estimation with dependent errors. J Measures. 2004;4:1–20.', ['Müller', 'Koch'], 2004, 'Estimation with dependent errors'],
    ['van der Vaart, A. W. (1998). Asymptotic statistics. Cambridge University Press.', ['van der Vaart'], 1998, 'Asymptotic statistics'],
    ['R Core Team (2018). R: A Language and Environment for Statistical Computing. Vienna.', ['R Core Team'], 2018, 'R: A Language and Environment for Statistical Computing'],
    ['Statistisches Bundesamt (2019): Mikrozensus. Wiesbaden.', ['Statistisches Bundesamt'], 2019, 'Mikrozensus'],
    ['Koch, A. (o. J.): Notizen. Berlin.', ['Koch'], null, 'Notizen'],
  ])('is read: %s', (entry, authors, year, title) => {
    expect(readEntry(entry)).toMatchObject({ authors, year, title });
  });

  it('keeps the letter of its year and the abbreviation of its author', () => {
    expect(readEntry('World Health Organization (WHO) (2011b). Report on noise. Geneva.')).toMatchObject({ authors: ['World Health Organization'], aliases: ['WHO'], corporate: true, year: 2011, yearSuffix: 'b' });
  });
});

describe('a list of references', () => {
  const entries = ['Groß, P. (1999). Über robuste Schätzer. Berlin.', 'Zeileis, A. (2004). Econometric computing. Vienna.'];

  it.each(['References', 'REFERENCES', '7 References', 'VI. Bibliography', 'Works Cited', 'Literatur', 'Literaturverzeichnis', '6. Quellen- und Literaturverzeichnis', 'Quellen', 'Bibliographie'])('begins after “%s”', (heading) => {
    expect(claimsOf('Groß (1999) says so.', entries, heading).bibliography.map((entry) => entry.authors[0])).toEqual(['Groß', 'Zeileis']);
  });

  it.each(['Appendix', 'Anhang', 'Eidesstattliche Erklärung', 'A. Simulation results for panel data', 'Affiliation:'])('ends before “%s”', (heading) => {
    const result = claimsOf('Groß (1999) says so.', [...entries, heading, 'As Zeileis (2004) says, it goes on here.']);
    expect(result.bibliography).toHaveLength(2);
    expect(result.marks.map((mark) => mark.entry)).toEqual([0, 1]);
  });

  it('does not begin in the table of contents', () => {
    const result = claimsOf('Contents\n\n1 Introduction 3\nReferences 28\n\n1 Introduction\n\nGroß (1999) says so.', entries);
    expect(result.bibliography).toHaveLength(2);
    expect(result.marks).toHaveLength(1);
  });

  it('does not cut an entry inside a long list of authors', () => {
    const lines = 'Bolker BM, Gardner B, Maunder M, Kim EJ, Lennert-Cody C, Magnusson\nA, Martell S, Nash J, Zipkin E (2013). “Strategies for Fitting Models.” Methods, 4(6), 501–512.';
    expect(claimsOf('Groß (1999) says so.', [lines, ...entries]).bibliography.map((entry) => entry.authors.length)).toEqual([9, 1, 1]);
  });

  it('has entries over several lines, without space between them and across pages', () => {
    const lines = 'Groß, P. (1999). Über robuste Schätzer und ihre Ver-\nteilung. Berlin.\nMüller, H., Koch, A., &\nvon der Heide, P. (2006). Cluster und ihre\nVarianz. https://example.org/a-very-long/\nAddress.pdf\nZeileis, A. (2004). Econometric computing. Vienna.';
    expect(claimsOf('Groß (1999) says so.', [lines]).bibliography.map(({ authors, title }) => [authors.length, title])).toEqual([[1, 'Über robuste Schätzer und ihre Verteilung'], [3, 'Cluster und ihre Varianz'], [1, 'Econometric computing']]);
  });
});
