export type MigrationFault = 'migration_changed' | 'migration_failed' | 'migration_locked' | 'transaction_pooler' | 'wrong_encoding' | 'bad_migration_file' | 'database_away' | 'database_refused';

/** The schema cannot be brought up to date; `code` is stable, the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
  constructor(readonly code: MigrationFault, message: string, cause?: unknown) {
    super(message, { cause });
  }
}
