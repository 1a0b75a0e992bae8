import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import { selectEntries, type AuditEntry } from './audit.js';
import type { AuditFilters } from './audit-filters.js';
import { exportList, iso, pageOf, type Cell, type ExportFormat } from './export.js';
import { readOnly } from './read.js';

const HEADINGS = ['id', 'at', 'actor', 'actor_kind', 'actor_role', 'via', 'bulk', 'action', 'target_kind', 'target', 'queue', 'row', 'user', 'session', 'reason', 'outcome', 'refusal', 'answer', 'before', 'after'];

/** The filtered audit, as export.ts says. @throws ReadTimeoutError */
export function exportAudit(kysely: Kysely<DB>, filters: AuditFilters, format: ExportFormat, cap?: number): AsyncGenerator<string> {
  return exportList({
    noun: 'entries', headings: HEADINGS, cells,
    page: async (before, limit) => pageOf(await readOnly(kysely, (reader) => selectEntries(reader, { ...filters, before, after: null }, limit + 1)), limit),
  }, format, cap);
}

function cells(entry: AuditEntry): Cell[] {
  return [
    entry.id, iso(entry.at), entry.actor, entry.actorKind, entry.actorRole, entry.via, entry.bulkId, entry.action, entry.targetKind, entry.targetId, entry.queue, entry.rowId, entry.userId,
    entry.sessionId, entry.reason, entry.outcome, entry.refusal, entry.answer, entry.before && JSON.stringify(entry.before), entry.after && JSON.stringify(entry.after),
  ];
}
