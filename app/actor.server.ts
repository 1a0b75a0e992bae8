import type { Operator } from '../server/http/load-context.js';
import type { Actor } from '../server/operations/action.js';

/** The signed-in person, as the audit names them. */
export function actorOf({ id, name, role }: Operator): Actor {
  return { kind: 'operator', id, name, role };
}
