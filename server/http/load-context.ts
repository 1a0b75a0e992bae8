import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Listener } from '../bus/listener.js';
import type { RowHints } from '../bus/row-hints.js';
import type { Config } from '../config.js';
import type { DB } from '../db/generated.js';
import type { Logger } from '../log.js';

/** What one web process has and shares with every request. Made once by server/main/world.ts. */
export interface World {
  config: Config;
  log: Logger;
  pool: pg.Pool;
  kysely: Kysely<DB>;
  /** Hears kicks and row hints; started by web.ts. */
  listener: Listener;
  /** Tells consoles which rows this process changed; call after the commit. */
  hints: RowHints;
  /** This start in the registry of processes (workers.id). */
  processId: string;
}

export type Role = 'viewer' | 'operator' | 'admin';

/** A signed-in person. `sessionId` names their session and opens nothing: safe to log, good for signOut(). */
export interface Operator {
  id: string;
  name: string;
  role: Role;
  sessionId: string;
}

/** What a Remix loader or action gets as `context`. */
export interface LoadContext {
  world: World;
  /** Null on the sign-in pages only; the shell lets nobody else through. */
  operator: Operator | null;
  /** For every <script> the page writes; the Content-Security-Policy allows no other inline script. */
  nonce: string;
  /** Where the request came from; a proxy is believed only when TRUSTED_PROXIES names it. */
  address: string;
  /** Aborts when the response's connection closes. Use this, not request.signal (which may never fire). */
  closed: AbortSignal;
}

declare module '@remix-run/node' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the way Remix's context type is extended
  interface AppLoadContext extends LoadContext {}
}
