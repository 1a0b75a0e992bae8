import { readFile } from 'node:fs/promises';

/** Fresh memory is filled at one or two GB/s: the overshoot between two looks stays near 100 MB. */
const LOOK_EVERY_MS = 50;
/** Linux counts statm in pages; all platforms that Node is built for and that have /proc use 4 KiB, except a few that use more. */
const PAGE_BYTES = 4096;

/** Calls `onExceeded` once when the process's resident set passes `maxMb`. Without /proc it does nothing: the child's own watchdog does. Returns how to stop. */
export function watchMemory(pid: number | undefined, maxMb: number, onExceeded: () => void): () => void {
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    const bytes = await residentBytes(pid);
    looking = false;
    if (bytes > maxMb * 1024 * 1024) onExceeded();
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** 0 when the process is gone or /proc is missing. */
async function residentBytes(pid: number | undefined): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ');
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
