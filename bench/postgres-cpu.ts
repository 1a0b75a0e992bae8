import fs from 'node:fs';
import type pg from 'pg';

/** What /proc counts in: USER_HZ, 100 on every Linux that matters (man 5 proc, /proc/pid/stat). */
const TICK_US = 10_000;

/** CPU time (µs) of a whole Postgres server on this machine so far: the postmaster, its children, and those that have ended. Undefined where there is no /proc. */
export async function postgresCpuUs(pool: pg.Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const me = readStat(rows[0]!.pid);
  const postmaster = me && readStat(me.parent);
  if (!postmaster) return undefined;
  const children = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => readStat(Number(name))).filter((stat) => stat?.parent === me.parent);
  return postmaster.us + postmaster.endedChildrenUs + children.reduce((sum, stat) => sum + stat!.us, 0);
}

/** CPU time (µs) of one process of this machine so far. @throws where there is no /proc. */
export function processCpuUs(pid: number): number {
  const stat = readStat(pid);
  if (!stat) throw new Error(`expected /proc/${pid}/stat, found none: this measurement needs Linux`);
  return stat.us;
}

interface Stat { parent: number; us: number; endedChildrenUs: number }

function readStat(pid: number): Stat | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number); // from the third field on; the second may contain spaces
    return { parent: fields[1]!, us: (fields[11]! + fields[12]!) * TICK_US, endedChildrenUs: (fields[13]! + fields[14]!) * TICK_US };
  } catch {
    return undefined;
  }
}
