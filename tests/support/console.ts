const expected: RegExp[] = [];
const seen: string[] = [];

/** This test may write `pattern` to console.error; anything else fails it. */
export function expectConsoleError(pattern: RegExp): void {
  expected.push(pattern);
}

/** Takes the place of console.error. */
export function recordConsoleError(...parts: unknown[]): void {
  const text = parts.map(part => part instanceof Error ? part.stack ?? part.message : String(part)).join(' ');
  if (!expected.some(pattern => pattern.test(text))) seen.push(text);
}

/** What was written unexpectedly since the last call. */
export function takeConsoleErrors(): string[] {
  expected.length = 0;
  return seen.splice(0);
}
