/** Passwords: how they are kept, compared and refused. Nothing here reads the database. */
import { hash, parseOptions, verify } from '@node-rs/argon2';

/**
 * Argon2id (the library's default algorithm) with the first parameters of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one
 * lane; a salt of 16 random bytes comes with each hash. Hashes made with others are made anew at the next sign-in.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** NIST SP 800-63B-4, 3.1.1.2: a password that is the only factor has 15 characters or more; 64 must be allowed, and no kinds of characters asked for. */
export const PASSWORD_MIN = 15;
export const PASSWORD_MAX = 200;
/** Fewer different characters than this is a pattern, not a secret. */
const DIFFERENT = 6;

/** What is wrong with a password that somebody chose for this account, as a sentence; null when it will do. */
export function passwordFault(password: string, accountName: string): string | null {
  const text = canonical(password);
  const length = [...text].length;
  if (length < PASSWORD_MIN) return `The password has ${length} of at least ${PASSWORD_MIN} characters. A few unrelated words make a good one. Nothing was changed.`;
  if (length > PASSWORD_MAX) return `The password has more than ${PASSWORD_MAX} characters. Choose a shorter one. Nothing was changed.`;
  if (new Set(text.toLowerCase()).size < DIFFERENT) return 'The password repeats a few characters. Choose one that nobody tries first. Nothing was changed.';
  const bare = text.toLowerCase().replaceAll(accountName.toLowerCase(), '').replaceAll('leaseboard', '');
  return [...bare].length < PASSWORD_MIN / 2 ? 'The password is little more than the account\'s or the product\'s name. Choose one that nobody tries first. Nothing was changed.' : null;
}

/** The hash to keep. About 20 ms of a thread of its own. */
export function hashPassword(password: string): Promise<string> {
  return hash(canonical(password), COST);
}

/**
 * Whether the password belongs to the hash. Without one (no such account, or no password) the same work is done for nothing, so that the
 * time of the answer does not tell which names exist. `outdated`: the hash was made with other parameters.
 */
export async function verifyPassword(kept: string | null, password: string): Promise<{ ok: boolean; outdated: boolean }> {
  if (kept === null) {
    await hashPassword(password);
    return { ok: false, outdated: false };
  }
  return { ok: await verify(kept, canonical(password)), outdated: isOutdated(kept) };
}

function isOutdated(kept: string): boolean {
  const made = parseOptions(kept);
  return made.algorithm !== 2 || (Object.keys(COST) as (keyof typeof COST)[]).some((name) => made[name] !== COST[name]);
}

/** The same characters typed on another keyboard are the same password (NFKC, as SP 800-63B asks); cut, so that no text costs more than another. */
function canonical(password: string): string {
  return password.slice(0, 4 * PASSWORD_MAX).toWellFormed().normalize('NFKC');
}
