/** A simulated parser: uploads of several files share its slots, files of very different size; then each upload is embedded and linked. Milliseconds. */
import { evenSteps } from '../server/console/eta-samples.js';
import { endsOf, rangeOf, type PastRun } from '../server/console/eta.js';
import type { Calibration } from './eta.js';
import { seeded } from './eta-simulation.js';
import { median } from './report.js';

export const aboutUploads = 'an upload every 15 s on average, 1 to 12 files of 0.8 MB in the median (log-normal, sigma 1); 1.2 ms a kB (log-normal, sigma 0.5), 4 slots; then embedded at 0.3 ms a kB (sigma 0.4)';

interface Upload {
  createdAt: number;
  endedAt: number;
  files: { bytes: number; at: number }[];
}

const SLOTS = 4;

/** Files are taken in the order in which they came. */
function live(seed: number, uploads: number): Upload[] {
  const random = seeded(seed);
  const free = new Array<number>(SLOTS).fill(0);
  let now = 0;
  return Array.from({ length: uploads }, () => {
    now += random.exponential(15_000);
    const createdAt = now;
    const files = Array.from({ length: 1 + Math.floor(12 * random()) }, () => {
      const bytes = Math.max(20_000, random.logNormal(800_000, 1));
      const slot = free.indexOf(Math.min(...free));
      free[slot] = Math.max(free[slot]!, createdAt) + 300 + (bytes / 1000) * random.logNormal(1.2, 0.5);
      return { bytes, at: free[slot] };
    }).sort((a, b) => a.at - b.at);
    const size = files.reduce((sum, { bytes }) => sum + bytes, 0);
    return { createdAt, files, endedAt: files.at(-1)!.at + 200 + (size / 1000) * random.logNormal(0.3, 0.4) };
  });
}

const WARM_UP = 60;
const RUNS = 60;

/** Asks once in the life of each upload, at a moment drawn evenly from it. */
export function calibrateUploads(seed: number, uploads = 500): Calibration {
  const lives = live(seed, uploads);
  const random = seeded(seed + 1);
  const widths: number[] = [];
  const result = { asked: 0, answered: 0, inside: 0 };
  for (const upload of lives.slice(WARM_UP)) {
    const now = upload.createdAt + (upload.endedAt - upload.createdAt) * random();
    const past: PastRun[] = lives.filter(({ endedAt }) => endedAt <= now).slice(-RUNS).map(({ createdAt, endedAt, files }) => ({ units: sizeOf(files), startedAt: createdAt, endedAt, steps: evenSteps(files) }));
    const done = upload.files.filter(({ at }) => at <= now);
    const eta = rangeOf(endsOf({ units: sizeOf(upload.files), startedAt: upload.createdAt, share: sizeOf(done) / sizeOf(upload.files), lastStepAt: done.at(-1)?.at ?? upload.createdAt }, past, now));
    result.asked += 1;
    if (!eta) continue;
    result.answered += 1;
    if (eta.from <= upload.endedAt && upload.endedAt <= eta.to) result.inside += 1;
    widths.push((eta.to - eta.from) / (upload.endedAt - now));
  }
  return { ...result, sharpness: median(widths) };
}

function sizeOf(files: Upload['files']): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
