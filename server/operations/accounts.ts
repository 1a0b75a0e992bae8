/**
 * Operators, sign-in links and API tokens as the command line, the first start and the settings page make them. Secrets are answered once,
 * when they are made; the database keeps their SHA-256. Times on the database clock. Every function is one statement unless it says so.
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
  createdAt: Date;
  disabledAt: Date | null;
}

export interface ApiTokenRow {
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** A sign-in link that nobody used is worthless after this. */
export const LINK_HOURS = 24;

const operatorColumns = 'id, name, role, created_at as "createdAt", disabled_at as "disabledAt"';

/** Undefined when the name (case aside) is taken. */
export async function createOperator(db: Db, name: string, role: OperatorRole): Promise<OperatorRow | undefined> {
  const { rows } = await db.query<OperatorRow>(
    `insert into operators (id, name, role) values ($1, $2, $3) on conflict (lower(name)) do nothing returning ${operatorColumns}`,
    [uuidv7(), cleanText(name).trim().slice(0, 200), role],
  );
  return rows[0];
}

export async function listOperators(db: Db): Promise<OperatorRow[]> {
  return (await db.query<OperatorRow>(`select ${operatorColumns} from operators order by lower(name)`)).rows;
}

/** Their sessions and links stop working with their next request. Undefined when there is no such operator. */
export async function disableOperator(db: Db, name: string): Promise<OperatorRow | undefined> {
  const { rows } = await db.query<OperatorRow>(
    `update operators set disabled_at = coalesce(disabled_at, now()) where lower(name) = lower($1) returning ${operatorColumns}`, [name]);
  return rows[0];
}

/** Counts from their next request on. Undefined when there is no such operator. */
export async function changeRole(db: Db, name: string, role: OperatorRole): Promise<OperatorRow | undefined> {
  const { rows } = await db.query<OperatorRow>(`update operators set role = $2 where lower(name) = lower($1) returning ${operatorColumns}`, [name, role]);
  return rows[0];
}

/** The oldest enabled operator of the role, created (named after the role) when there is none. Several statements; safe to run twice at once. */
export async function operatorOfRole(db: Db, role: OperatorRole): Promise<OperatorRow> {
  for (let number = 1; ; number++) {
    const { rows } = await db.query<OperatorRow>(
      `select ${operatorColumns} from operators where role = $1 and disabled_at is null order by created_at, id limit 1`, [role]);
    if (rows[0]) return rows[0];
    const created = await createOperator(db, number === 1 ? role : `${role}-${number}`, role);
    if (created) return created;
  }
}

/** The secret of a link that signs this operator in once, within a day. The page is `/signin/<secret>`. */
export async function createSigninLink(db: Db, operatorId: string): Promise<string> {
  const secret = newSecret();
  await db.query(
    `insert into signin_links (token_sha256, operator_id, expires_at) values ($1, $2, now() + make_interval(hours => $3))`,
    [secretHash(secret), operatorId, LINK_HOURS],
  );
  return secret;
}

/** The token itself; undefined when a live token has this name. */
export async function createApiToken(db: Db, name: string): Promise<string | undefined> {
  const token = `lb_${newSecret()}`;
  const { rowCount } = await db.query(
    `insert into api_tokens (id, name, token_sha256) values ($1, $2, $3) on conflict (name) where revoked_at is null do nothing`,
    [uuidv7(), cleanText(name).trim().slice(0, 200), secretHash(token)],
  );
  return rowCount === 1 ? token : undefined;
}

/** Revokes the live token of this name, if any, and makes another. Needs a transaction: without one a crash between loses the old token only. */
export async function replaceApiToken(tx: Db, name: string): Promise<string> {
  for (;;) {
    await revokeApiToken(tx, name);
    const token = await createApiToken(tx, name);
    if (token) return token;
  }
}

/** True when a live token of this name was revoked. It is refused from its next request on. */
export async function revokeApiToken(db: Db, name: string): Promise<boolean> {
  return (await db.query('update api_tokens set revoked_at = now() where name = $1 and revoked_at is null', [name])).rowCount === 1;
}

/** Newest first, revoked ones too. */
export async function listApiTokens(db: Db): Promise<ApiTokenRow[]> {
  const { rows } = await db.query<ApiTokenRow>(
    `select name, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt" from api_tokens order by id desc`);
  return rows;
}
