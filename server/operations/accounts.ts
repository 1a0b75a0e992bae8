/**
 * Operators, sign-in links and API tokens as rows. Secrets are answered once, when they are made; the database keeps their SHA-256. Times on the
 * database clock. Every function is one statement. Whoever acts for a person goes through operate() and the actions beside this file; these
 * are their statements, and what a first start needs before there is anybody.
 */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { cleanText } from '../db/text.js';
import { newSecret, secretHash } from './secret.js';

type Db = Pick<pg.ClientBase, 'query'>;
export type OperatorRole = 'viewer' | 'operator' | 'admin';
export const operatorRoles: readonly OperatorRole[] = ['viewer', 'operator', 'admin'];

export interface OperatorRow {
  id: string;
  name: string;
  role: OperatorRole;
}

/** A sign-in link that nobody used is worthless after this. */
export const LINK_HOURS = 24;

/** What an API token may be used for: reading states and reports; uploads, analyses and publishes; erasing a user. */
export const apiScopes = ['api:read', 'api:write', 'api:erase'] as const;
/** What a script may do in place of a person of that role. Never given unless it is asked for. */
export const actScopes = ['act:operator', 'act:admin'] as const;
export const tokenScopes = [...apiScopes, ...actScopes] as const;
export type ApiScope = (typeof tokenScopes)[number];

/** Undefined when the name (case aside) is taken. */
export async function createOperator(db: Db, name: string, role: OperatorRole, id = uuidv7()): Promise<OperatorRow | undefined> {
  const { rows } = await db.query<OperatorRow>(
    'insert into operators (id, name, role) values ($1, $2, $3) on conflict (lower(name)) do nothing returning id, name, role', [id, cleanText(name).trim().slice(0, 200), role]);
  return rows[0];
}

/** Case aside. */
export async function findOperator(db: Db, name: string): Promise<OperatorRow | undefined> {
  return (await db.query<OperatorRow>('select id, name, role from operators where lower(name) = lower($1)', [cleanText(name).trim()])).rows[0];
}

/** The oldest enabled operator of the role whom a link may sign in; undefined when there is none. */
export async function oldestOfRole(db: Db, role: OperatorRole): Promise<OperatorRow | undefined> {
  return (await db.query<OperatorRow>('select id, name, role from operators where role = $1 and disabled_at is null order by created_at, id limit 1', [role])).rows[0];
}

/** The secret of a link that signs this operator in once, within a day. The page is `/signin/<secret>`. */
export async function createSigninLink(db: Db, operatorId: string): Promise<string> {
  const secret = newSecret();
  await insertSigninLink(db, { id: uuidv7(), operatorId, sha256: secretHash(secret), createdBy: null });
  return secret;
}

export async function insertSigninLink(db: Db, link: { id: string; operatorId: string; sha256: Buffer; createdBy: string | null }): Promise<void> {
  await db.query(
    'insert into signin_links (id, token_sha256, operator_id, created_by, expires_at) values ($1, $2, $3, $4, now() + make_interval(hours => $5))',
    [link.id, link.sha256, link.operatorId, link.createdBy, LINK_HOURS]);
}

/** The text of a new token; it is not known to the database yet. */
export const newApiToken = () => `lb_${newSecret()}`;

/** A token of every scope of a product backend that does not expire; undefined when a live token has this name. */
export async function createApiToken(db: Db, name: string): Promise<string | undefined> {
  const token = newApiToken();
  return await insertApiToken(db, { id: uuidv7(), name: cleanText(name).trim().slice(0, 200), sha256: secretHash(token), scopes: apiScopes, expiresInDays: null }) ? token : undefined;
}

/** False when a live token has this name. */
export async function insertApiToken(db: Db, token: { id: string; name: string; sha256: Buffer; scopes: readonly ApiScope[]; expiresInDays: number | null }): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into api_tokens (id, name, token_sha256, scopes, expires_at) values ($1, $2, $3, $4, now() + make_interval(days => $5)) on conflict (name) where revoked_at is null do nothing`,
    [token.id, token.name, token.sha256, token.scopes, token.expiresInDays]);
  return rowCount === 1;
}

/** True when a live token of this name was revoked. It is refused from its next request on. */
export async function revokeApiToken(db: Db, name: string): Promise<boolean> {
  return (await db.query('update api_tokens set revoked_at = now() where name = $1 and revoked_at is null', [name])).rowCount === 1;
}
