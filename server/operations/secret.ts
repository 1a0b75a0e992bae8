import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as URL-safe text. Only its hash is ever stored. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What the database keeps of a secret (session, sign-in link, API token): the SHA-256 of its whole text. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}
