/** The server ends or refuses connections (57P01–57P03, class 08), has none left (53300), or became a read-only standby (25006). */
const lostStates = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25006', '25P03']);
const lostSystemCodes = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
const lostMessages = /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|not queryable|server closed the connection|client was closed/i;

/** Errors of connections that never came to be. A SQLSTATE alone does not tell: 55000 is "accepts no connections" there, and a statement out of turn elsewhere. */
const unopened = new WeakSet<object>();

/** Called where connections are opened: whatever this error says, no statement was to blame and none has run. */
export function noteUnopened(error: unknown): void {
  if (error && typeof error === 'object') unopened.add(error);
}

/** The SQLSTATE with which the server refused to open a connection (55000, 53300, 57P03, 3D000, 28P01 …); undefined when it was not asked or did not answer. */
export function refusalAtConnect(error: unknown): string | undefined {
  const code = errorCode(error);
  return error && typeof error === 'object' && unopened.has(error) && /^[0-9A-Z]{5}$/.test(code) && !lostSystemCodes.has(code) ? code : undefined;
}

/** The SQLSTATE or system code of an error, empty when it has none. */
export function errorCode(error: unknown): string {
  const code = error && typeof error === 'object' && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** True when the connection is to blame, not the statement: throw the connection away, try again on another. */
export function isConnectionError(error: unknown): boolean {
  if (error && typeof error === 'object' && unopened.has(error)) return true;
  const code = errorCode(error);
  if (lostStates.has(code) || lostSystemCodes.has(code) || /^08...$/.test(code)) return true;
  return error instanceof Error && code === '' && typeof error.message === 'string' && lostMessages.test(error.message);
}

/** Deadlock (40P01) or serialization failure (40001): the transaction was rolled back and may run again. */
export function isRetryable(error: unknown): boolean {
  return ['40P01', '40001'].includes(errorCode(error));
}
