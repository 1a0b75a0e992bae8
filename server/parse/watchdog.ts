/**
 * A second thread in the parser child that ends the whole child when its parent is gone, its memory or its time is used up. The main
 * thread cannot be asked: a hostile file keeps it in one synchronous loop. The parent watches as well; this one also works while the
 * parent is frozen, after it was killed, and where there is no /proc.
 */
import { Worker } from 'node:worker_threads';
import type { ChildOrder } from './extraction.js';

/** Read by the parent from the child's stderr. */
export const VERDICT = /^leaseboard-verdict: (took_too_long|used_too_much_memory)$/m;

/** Milliseconds beyond `maxSeconds`: the parent's own limit comes first and says so more precisely. */
const GRACE_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** Starts the thread; it keeps the child alive until somebody ends it. */
export function startWatchdog(order: ChildOrder): Worker {
  return new Worker(thread, {
    eval: true,
    workerData: { ...order, graceMs: GRACE_MS, lookEveryMs: LOOK_EVERY_MS },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
}

/** Text, so that the thread needs no loader and starts in a few milliseconds, from the sources as from the build. */
const thread = `
const { writeSync } = require('node:fs');
const { workerData: order } = require('node:worker_threads');
const deadline = performance.now() + order.maxSeconds * 1000 + order.graceMs;

function end(verdict) {
  try {
    if (verdict) writeSync(2, '\\nleaseboard-verdict: ' + verdict + '\\n');
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}

setInterval(() => {
  if (process.ppid !== order.parentPid) end();
  if (process.memoryUsage.rss() > order.maxMemoryMb * 1024 * 1024) end('used_too_much_memory');
  if (performance.now() > deadline) end('took_too_long');
}, order.lookEveryMs);
`;
