import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import { selectEntries, type AuditEntry } from './audit.js';
import type { AuditFilters } from './audit-filters.js';
import { csvLine } from './csv.js';
import { EXPORT_CAP, type ExportFormat } from './queue-export.js';
import { readOnly } from './read.js';

const BATCH = 1_000;
const HEADINGS = ['id', 'at', 'actor', 'actor_kind', 'actor_role', 'via', 'bulk', 'action', 'target_kind', 'target', 'queue', 'row', 'user', 'session', 'reason', 'outcome', 'refusal', 'answer', 'before', 'after'];

/** The filtered audit, newest first, in batches that each are a short transaction. Ends at `cap` and says so in its last line. @throws ReadTimeoutError */
export async function* exportAudit(kysely: Kysely<DB>, filters: AuditFilters, format: ExportFormat, cap = EXPORT_CAP): AsyncGenerator<string> {
  let written = 0;
  let before: string | null = null;
  yield format === 'csv' ? csvLine(HEADINGS) : '{"entries":[';
  for (;;) {
    const limit = Math.min(BATCH, cap - written) + 1;
    const batch = await readOnly(kysely, (reader) => selectEntries(reader, { ...filters, before, after: null }, limit));
    const more = batch.length === limit;
    const entries = more ? batch.slice(0, -1) : batch;
    if (entries.length > 0) yield format === 'csv' ? entries.map((entry) => csvLine(cells(entry))).join('') : `${written === 0 ? '' : ','}${entries.map((entry) => JSON.stringify(entry)).join(',')}`;
    written += entries.length;
    before = entries.at(-1)?.id ?? null;
    if (!more || written >= cap) return yield ending(format, written, more);
  }
}

function ending(format: ExportFormat, written: number, more: boolean): string {
  if (format === 'json') return `],"count":${written},"complete":${!more}}\n`;
  return more ? csvLine([`Stopped after ${written} entries: more match. Narrow the filter to export the rest.`]) : '';
}

function cells(entry: AuditEntry): (string | null)[] {
  return [
    entry.id, new Date(entry.at).toISOString(), entry.actor, entry.actorKind, entry.actorRole, entry.via, entry.bulkId, entry.action, entry.targetKind, entry.targetId, entry.queue, entry.rowId, entry.userId,
    entry.sessionId, entry.reason, entry.outcome, entry.refusal, entry.answer, entry.before && JSON.stringify(entry.before), entry.after && JSON.stringify(entry.after),
  ];
}
