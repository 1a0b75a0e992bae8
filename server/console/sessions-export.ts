import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import { exportList, iso, type ExportFormat } from './export.js';
import { readSessions, type SessionFilters, type SessionSummary } from './sessions.js';

/** The filtered sessions, as export.ts says. @throws ReadTimeoutError */
export function exportSessions(kysely: Kysely<DB>, filters: SessionFilters, format: ExportFormat, cap?: number): AsyncGenerator<string> {
  return exportList({
    noun: 'sessions', headings: ['session', 'user', 'newest', 'newest_at', 'documents', 'open_uploads', 'analyses', 'open_analyses'],
    cells: (one: SessionSummary) => [one.sessionId, one.userId, one.newest, iso(one.newestAt), one.documents, one.openUploads, one.analyses, one.openAnalyses],
    async page(before) {
      const { sessions, next, cut } = await readSessions(kysely, { ...filters, before });
      return { items: sessions, next, cut };
    },
  }, format, cap);
}
