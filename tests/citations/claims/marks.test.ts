import { describe, expect, it } from 'vitest';
import { citedBy, claimsOf, numberedReferences } from './small-thesis.js';

const koch = 'Müller|Koch 2004';
const zeileis = 'Zeileis 2004';
const heideA = 'Müller|Koch|von der Heide 2006a';
const heideB = 'Müller|Koch|von der Heide 2006b';

describe('author–year marks', () => {
  it.each<[text: string, cited: string[]]>([
    ['The estimator is robust (Zeileis 2004).', [zeileis]],
    ['The estimator is robust (Zeileis, 2004, p. 3).', [zeileis]],
    ['The estimator is robust (see e.g., Müller & Koch, 2004; Zeileis, 2004).', [koch, zeileis]],
    ['The estimator is robust (see Zeileis 2004, for a review, and Groß 1999).', [zeileis, 'Groß 1999']],
    ['Zeileis (2004) shows that it is robust.', [zeileis]],
    ['In a recent paper, Müller and Koch (2004, pp. 3–5) show that it is robust.', [koch]],
    ['However, Müller, Koch, and von der Heide (2006b) show that it is not.', [heideB]],
    ['The results of Müller et al. (2006a) and Zeileis’s (2004) survive.', [heideA, zeileis]],
    ['This holds in general (Müller et al. 2006a, 2006b).', [heideA, heideB]],
    ['This holds in general (Müller et al. 2006a,b).', [heideA, heideB]],
    ['Computed with R (R Core Team 2018).', ['R Core Team 2018']],
    ['Noise is harmful (WHO, 2011), says the World Health Organization (2011).', ['World Health Organization 2011', 'World Health Organization 2011']],
    ['As Zeileis [2004] put it, it is robust.', [zeileis]],
    ['As Zeileis 2004 puts it, it is robust.', [zeileis]],
    ['Der Schätzer ist robust (vgl. Müller und Koch 2004, S. 12 f.; Groß 1999).', [koch, 'Groß 1999']],
    ['Der Schätzer ist robust (vgl. z. B. Müller/Koch 2004, S. 12–14).', [koch]],
    ['Nach Müller u. a. (2006a, S. 3) ist er robust.', [heideA]],
    ['Müllers und Kochs Schätzer ist nach Gross (1999) robust.', ['Groß 1999']],
    ['Mueller und Koch (2004) bestreiten das.', [koch]],
    ['Das bestreitet MÜLLER (2005).', ['year_not_in_bibliography']],
    ['Das bestreitet schon Schulze (2005).', ['author_not_in_bibliography']],
    ['This was claimed by Müller et al. (2006).', ['ambiguous']],
  ])('%s', (text, cited) => {
    expect(citedBy(claimsOf(text))).toEqual(cited);
  });

  it.each([
    'The survey (2004) was repeated.', 'Die Erhebung (2004) wurde wiederholt.', 'It is shown (Figure 3) and in Equation (12).', 'Seit Januar 2004 gilt die Regel (März 2006).',
    'From 1991 to 1999 and in 2004–2006 it rose by 2004 units.', 'The index runs over x[1], y[2004] and seq(2000, 2002).', 'Weights lie in [0, 1] and s2 is the variance.', 'Auf S. 2004 und Nr. 1999 steht nichts.',
  ])('are not seen in “%s”', (text) => {
    expect(claimsOf(text).marks).toEqual([]);
  });

  it('span a line end, a hyphen and a page with its running head', () => {
    const result = claimsOf('2 Robust Estimation\n\nThe estimator of Mül-\nler and\nKoch (2004) is not as robust as the one found in the paper by Mül-', [
      '3 Robust Estimation', 'ler, Koch, and von der Heide (2006b), which is newer.', 'References', 'Müller, H., & Koch, A. (2004). Schätzen. Berlin.', 'Müller, H., Koch, A., & von der Heide, P. (2006b). Cluster. Berlin.',
    ], '');
    expect(result.summary.marks.seen).toBe(2);
    expect(citedBy(result)).toEqual([koch, heideB]);
  });

  it('are counted as unresolved where a text has no list of references', () => {
    const result = claimsOf('The estimator is robust (Zeileis 2004) and old [3].', [], 'Thanks');
    expect(citedBy(result)).toEqual(['no_bibliography', 'no_bibliography']);
    expect(result.summary.marks).toMatchObject({ seen: 2, resolved: 0, unresolved: 2, reasons: { no_bibliography: 2 } });
    expect(result.claims.map((claim) => claim.entry)).toEqual([null, null]);
  });
});

describe('numbers and labels in brackets', () => {
  const cited = (text: string) => claimsOf(text, numberedReferences).marks.map((mark) => mark.entry === null ? mark.reason : mark.entry + 1);

  it.each<[text: string, numbers: (number | string)[]]>([
    ['The estimator is robust [2].', [2]],
    ['The estimator is robust [1, 2] and fast [2–4].', [1, 2, 2, 3, 4]],
    ['The estimator is robust [1, p. 4] (vgl. [2, S. 12 f.; 4]).', [1, 2, 4]],
    ['The estimator is robust.[3] It is fast.', [3]],
    ['The estimator is robust [1, 9].', [1, 'label_not_in_bibliography']],
  ])('%s', (text, numbers) => {
    expect(cited(text)).toEqual(numbers);
  });

  it.each([
    'Shares lie in the interval [1, 2].', 'The first value x[1] and coef(fit)[2].', 'It lies in [0, 1].', 'It is shown in [17].', 'See Equation (1) and Figure (2).', '> mean(x)\n[1] 0.25 0.33', 'The range 1–3 and x2.',
  ])('are not seen in “%s”', (text) => {
    expect(cited(text)).toEqual([]);
  });

  it('count only if the list of references is numbered', () => {
    const result = claimsOf('The estimator is robust [1].');
    expect(result.marks).toEqual([]);
    expect(result.summary.lookalikes).toEqual({ bibliography_not_labelled: 1 });
  });

  it('may be letters and years', () => {
    const references = ['[KR06] A. Koch and P. Roth. On clusters. Berlin, 2006.', '[Zei04a] A. Zeileis. Econometric computing. Vienna, 2004.', '[Müller+18] H. Müller et al. Cluster. Berlin, 2018.'];
    const result = claimsOf('It is robust [KR06, S. 3; Zei04a] and new [Müller+18].', references);
    expect(citedBy(result)).toEqual(['Koch|Roth 2006', 'Zeileis 2004', 'Müller 2018']);
  });

  it('are numbered by position in lists that write "1."', () => {
    const references = ['1. Müller H, Koch A. Estimation with dependent errors. J Measures. 2004;4:1–20.', '2. Zeileis A. Object-oriented computation of sandwich estimators. J Stat Softw. 2006;16:1–16.'];
    expect(citedBy(claimsOf('It is robust [1] and fast [2].', references))).toEqual(['Müller|Koch 2004', 'Zeileis 2006']);
  });
});

describe('footnotes', () => {
  const page = (note: string) => `Der Schätzer ist robust.1 Er ist auch schnell, weil x2 klein ist, wie die folgende Tabelle zeigt.\n\n1 ${note}`;

  it.each<[note: string, cited: string[]]>([
    ['Vgl. Müller/Koch 2004, S. 12.', [koch]],
    ['Vgl. Groß 1999, S. 12; Zeileis 2004.', ['Groß 1999', zeileis]],
    ['Groß, Über robuste Schätzer, S. 12.', ['Groß 1999']],
    ['Vgl. Unbekannt, Ganz anderes, S. 12.', ['note_not_understood']],
    ['Das gilt nicht für kleine Stichproben.', []],
  ])('cite what “%s” cites', (note, cited) => {
    const result = claimsOf(page(note));
    expect(citedBy(result)).toEqual(cited);
    expect(result.claims.every((claim) => claim.reading === 'Der Schätzer ist robust.1')).toBe(true);
  });

  it('go back to the note before with "Ebd."', () => {
    const text = 'Der Schätzer ist robust.1 Er ist auch schnell.2 Mehr ist nicht bekannt.\n\n1 Vgl. Groß 1999, S. 12.\n2 Ebd., S. 14.';
    expect(citedBy(claimsOf(text))).toEqual(['Groß 1999', 'Groß 1999']);
  });

  it('are no footnotes without a note of that number on the page', () => {
    expect(claimsOf('Der Schätzer ist robust.1 Die Fläche misst 12 m2 und mehr.').marks).toEqual([]);
  });
});
