import { textFromPages } from '../../../server/citations/claims/document-text.js';
import { extractClaims, type ClaimsResult } from '../../../server/citations/claims/extract-claims.js';

export const apaReferences = [
  'Groß, P. (1999). Über robuste Schätzer. Statistische Hefte, 12, 3–19.',
  'Müller, H., & Koch, A. (2004). Schätzen mit abhängigen Fehlern. Zeitschrift für Messung, 4(2), 1–20.',
  'Müller, H., Koch, A., & von der Heide, P. (2006a). Cluster und ihre Varianz. Springer, Berlin.',
  'Müller, H., Koch, A., & von der Heide, P. (2006b). Noch einmal Cluster. Springer, Berlin.',
  'R Core Team (2018). R: A Language and Environment for Statistical Computing. Vienna.',
  'World Health Organization (WHO) (2011). Report on noise and health. Geneva.',
  'Zeileis, A. (2004). Econometric computing with HC and HAC covariance matrix estimators. Journal of Statistical Software, 11(10), 1–17.',
];

export const numberedReferences = [
  '[1] H. Müller and A. Koch. Estimation with dependent errors. Journal of Measures 4, 1–20, 2004.',
  '[2] A. Zeileis. Object-oriented computation of sandwich estimators. Journal of Statistical Software 16, 1–16, 2006.',
  '[3] R Core Team. R: A Language and Environment for Statistical Computing. Vienna, 2018.',
  '[4] P. Groß. On robust estimators. Statistical Papers 12, 3–19, 1999.',
];

/** What a text says that cites from these references. */
export function claimsOf(body: string, references: readonly string[] = apaReferences, heading = 'References'): ClaimsResult {
  return extractClaims(textFromPages([body, `${heading}\n\n${references.join('\n\n')}`]));
}

/** "Müller|Koch 2004" for each mark, or the reason why it found nothing. */
export function citedBy(result: ClaimsResult): string[] {
  return result.marks.map((mark) => {
    const entry = mark.entry === null ? undefined : result.bibliography[mark.entry];
    return entry ? `${entry.authors.join('|')} ${entry.year}${entry.yearSuffix}` : String(mark.reason);
  });
}
