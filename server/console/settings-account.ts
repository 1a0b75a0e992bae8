import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { FRESH_MINUTES } from '../operations/account-password.js';
import { ms, readOnly } from './read.js';

/** The signed-in person's own account. Instants in ms since 1970. */
export interface OwnAccount {
  name: string;
  role: string;
  createdAt: number;
  passwordSetAt: number | null;
  /** The provider's address, for an account that comes through one. */
  provider: string | null;
  /** A first password can still be set in this session without an old one. */
  fresh: boolean;
}

/** Own read-only transaction. @throws ReadTimeoutError */
export function readOwnAccount(kysely: Kysely<DB>, operatorId: string, sessionId: string): Promise<OwnAccount> {
  return readOnly(kysely, async (reader) => {
    const { rows } = await sql<OwnAccount>`
      select o.name, o.role, ${ms('o.created_at')} as "createdAt", ${ms('o.password_set_at')} as "passwordSetAt", o.oidc_issuer as provider,
        coalesce(s.created_at > now() - make_interval(mins => ${FRESH_MINUTES}), false) as fresh
      from operators o left join operator_sessions s on s.operator_id = o.id and s.id = ${sessionId} where o.id = ${operatorId}`.execute(reader);
    return rows[0]!;
  });
}
