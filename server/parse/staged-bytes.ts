import type pg from 'pg';
import { LeaseLostError } from '../lease/errors.js';
import type { LeaseKey } from '../lease/lease.js';

/** Bytes of one read: the worker's memory does not grow with the file, and decoding one (hexadecimal) takes a few milliseconds. */
const PIECE_BYTES = 1024 * 1024;

/**
 * The upload that a parse item holds, in pieces. Each read repeats state and token.
 * @throws LeaseLostError when the row is not running under this token any more.
 */
export async function* readStagedBytes(pool: pg.Pool, lease: LeaseKey): AsyncGenerator<Buffer> {
  for (let from = 1; ; from += PIECE_BYTES) {
    const piece = await readPiece(pool, lease, from);
    if (piece.length > 0) yield piece;
    if (piece.length < PIECE_BYTES) return;
  }
}

async function readPiece(pool: pg.Pool, lease: LeaseKey, from: number): Promise<Buffer> {
  const { rows } = await pool.query<{ piece: Buffer }>({
    text: `select substring(file_bytes from $3::int for $4::int) as piece from parse_items
           where id = $1 and state = 'running' and lease_token = $2`,
    values: [lease.id, lease.token, from, PIECE_BYTES],
  });
  const row = rows[0];
  if (!row) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the row is not held under this token');
  return row.piece;
}
