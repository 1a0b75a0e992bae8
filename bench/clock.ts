/** Milliseconds on the machine's monotonic clock, the same in every process of it (performance.now() begins with each process anew). */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
