import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import { exportList, iso, type ExportFormat } from './export.js';
import { readRedeploys, type RedeployFilters, type RedeployLine } from './redeploys.js';

/** The filtered redeploys with what became of the leases in flight, as export.ts says. @throws ReadTimeoutError */
export function exportRedeploys(kysely: Kysely<DB>, filters: RedeployFilters, format: ExportFormat, cap?: number): AsyncGenerator<string> {
  return exportList({
    noun: 'redeploys',
    headings: ['id', 'role', 'from_version', 'to_version', 'started_at', 'switch_at', 'ended_at', 'outgoing', 'incoming', 'killed', 'in_flight', 'finished', 'given_back', 'expired', 'held', 'waiting', 'late_writes', 'lost'],
    cells: ({ tally, ...line }: RedeployLine) => [
      line.id, line.role, line.fromVersion, line.toVersion, iso(line.startedAt), iso(line.switchAt), iso(line.endedAt), line.outgoing, line.incoming, line.killed,
      tally.inFlight, tally.finished, tally.givenBack, tally.expired, tally.held, tally.waiting, tally.lateWrites, tally.lost,
    ],
    async page(before) {
      const { redeploys, next } = await readRedeploys(kysely, { ...filters, before, after: null });
      return { items: redeploys, next };
    },
  }, format, cap);
}
