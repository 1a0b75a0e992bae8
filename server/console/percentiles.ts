import { addHistograms, percentile } from '../lease/samples.js';

/** Milliseconds; null without a sample. */
export interface Percentiles {
  p50: number | null;
  p95: number | null;
}

/** Of histograms as queue_minutes stores them. */
export function percentilesOf(histograms: readonly (readonly number[])[]): Percentiles {
  const sum = addHistograms(histograms);
  return { p50: percentile(sum, 0.5), p95: percentile(sum, 0.95) };
}
