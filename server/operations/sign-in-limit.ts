/**
 * The brake on guessing, in the database, so that it holds for all web processes together and outlives their restarts. Each account and each
 * address has an allowance that refills evenly (the generic cell rate algorithm, ITU-T I.371: one instant per key). An attempt is taken
 * before the password is looked at, by one statement: a hundred at once are counted like a hundred in a row. Clock: the database's.
 */
import { isIPv6 } from 'node:net';
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { cleanText } from '../db/text.js';

type Db = Pick<pg.Pool, 'query'>;
export type LimitKind = 'account' | 'address';

/**
 * At once, and then one every so many seconds. An account: 5, then 1,440 a day, far from what a 15-character password would take; the one-time
 * link stays open meanwhile, so a stranger cannot lock anybody out. An address: several people may share one.
 */
export const signInLimits: Readonly<Record<LimitKind, { burst: number; everySeconds: number }>> = {
  account: { burst: 5, everySeconds: 60 },
  address: { burst: 20, everySeconds: 10 },
};

/** Rows whose allowance is whole again say nothing; each attempt removes some of them. */
const PRUNED_AT_ONCE = 50;

/** Takes one attempt of the key's allowance. Answers 0, or in how many seconds (rounded up) the next one is possible. */
export async function takeAttempt(db: Db, kind: LimitKind, key: string): Promise<number> {
  const { burst, everySeconds } = signInLimits[kind];
  const values = [kind, cleanText(key), everySeconds, burst];
  const taken = await db.query(limited(
    `insert into signin_limits as l (kind, key_sha256, whole_at) values ($1, ${KEY}, now() + $3 * interval '1 second')
     on conflict (kind, key_sha256) do update set whole_at = greatest(l.whole_at, now()) + $3 * interval '1 second'
       where greatest(l.whole_at, now()) + $3 * interval '1 second' <= now() + $4 * $3 * interval '1 second'`,
    values,
  ));
  await prune(db);
  if (taken.rowCount === 1) return 0;
  const { rows } = await db.query<{ seconds: number }>(limited(
    `select ceil(extract(epoch from whole_at - now()) - ($4 - 1) * $3)::int as seconds from signin_limits where kind = $1 and key_sha256 = ${KEY}`, values));
  return Math.max(1, rows[0]?.seconds ?? 1);
}

/** Names differ by case alone nowhere (operators_by_name), so neither do their allowances. */
const KEY = `sha256(convert_to(lower($2), 'UTF8'))`;

/** Somebody has proven to be who they say: the account's failures are forgotten, and this attempt did not count for the address. */
export async function forgiveAttempts(db: Db, account: string, address: string): Promise<void> {
  await db.query(limited(`delete from signin_limits where kind = $1 and key_sha256 = ${KEY}`, ['account', cleanText(account)]));
  await returnAttempt(db, address);
}

/** Gives the address back one attempt, which ended well. */
export async function returnAttempt(db: Db, address: string): Promise<void> {
  await db.query(limited(
    `update signin_limits set whole_at = whole_at - $3 * interval '1 second' where kind = $1 and key_sha256 = ${KEY}`, ['address', address, signInLimits.address.everySeconds]));
}

async function prune(db: Db): Promise<void> {
  await db.query(limited(
    `delete from signin_limits where ctid = any(array(
       select ctid from signin_limits where whole_at < now() order by whole_at limit ${PRUNED_AT_ONCE} for update skip locked))`));
}

/** What counts as one address: an IPv4 address, or the /64 network of an IPv6 one, since a single customer is given that many. */
export function addressKey(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped || !isIPv6(ip)) return mapped ?? ip;
  const [head = '', tail] = (ip.split('%', 1)[0] ?? '').split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`;
}
