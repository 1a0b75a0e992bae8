/** The server ends or refuses connections (57P01–57P03, class 08), has none left (53300), or became a read-only standby (25006). */
const lostStates = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25006', '25P03']);
const lostSystemCodes = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
const lostMessages = /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|not queryable|server closed the connection|client was closed/i;

/** The SQLSTATE or system code of an error, empty when it has none. */
export function errorCode(error: unknown): string {
  const code = error && typeof error === 'object' && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** True when the connection is to blame, not the statement: throw the connection away, try again on another. */
export function isConnectionError(error: unknown): boolean {
  const code = errorCode(error);
  if (lostStates.has(code) || lostSystemCodes.has(code) || /^08...$/.test(code)) return true;
  return error instanceof Error && code === '' && typeof error.message === 'string' && lostMessages.test(error.message);
}

/** Deadlock (40P01) or serialization failure (40001): the transaction was rolled back and may run again. */
export function isRetryable(error: unknown): boolean {
  return ['40P01', '40001'].includes(errorCode(error));
}
