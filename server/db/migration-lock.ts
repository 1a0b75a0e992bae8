/**
 * The one lock of all DDL. Never a blocking wait: a session that waits in pg_advisory_lock holds a snapshot, CREATE INDEX CONCURRENTLY of
 * the holder waits for that snapshot, and the two deadlock. A session that polls holds nothing between two looks.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../log.js';
import { MigrationError } from './migration-error.js';

/** Two-key advisory lock, our own number first. */
const LOCK = [1_818_587_234, 1] as const;
const LOOK_AGAIN_MS = 100;

type Holder = { pid: number, application_name: string };

/** Returns when the session of `client` holds the lock; it goes with the session. `deadline` is on the performance clock. */
export async function takeMigrationLock(client: pg.Client, options: { deadline: number, log: Logger }): Promise<void> {
  let told: number | undefined;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1, $2) as taken', [...LOCK]);
    if (rows[0]?.taken) return;
    const holder = await holderOf(client);
    if (holder && holder.pid !== told) options.log.info({ event: 'migration_lock_held', holderPid: holder.pid, holder: holder.application_name }, 'Another process migrates; waiting for it');
    told = holder?.pid ?? told;
    if (performance.now() > options.deadline) throw lockedError(holder);
    await pause(LOOK_AGAIN_MS * (0.5 + Math.random()));
  }
}

async function holderOf(client: pg.Client): Promise<Holder | undefined> {
  const { rows } = await client.query<Holder>(`
    select l.pid, coalesce(a.application_name, '') as application_name
    from pg_locks l left join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 and l.objsubid = 2
      and l.database = (select oid from pg_database where datname = current_database())`, [...LOCK]);
  return rows[0];
}

function lockedError(holder: Holder | undefined): MigrationError {
  const who = holder ? `backend ${holder.pid} (${holder.application_name || 'no name'})` : 'a session that ended meanwhile';
  return new MigrationError('migration_locked', `The migration lock was not free in time; ${who} holds it. If it hangs, end it: select pg_terminate_backend(${holder?.pid ?? 'pid'}).`);
}
