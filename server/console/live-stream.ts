/** One browser's stream as the hub sees it. */
export interface LiveStream {
  /** Takes whole events, ready for the wire. Never throws; may drop them, and then asks the hub for a resnapshot later. */
  deliver(event: string): void;
}

/** One server-sent event. JSON has no line breaks of its own, so one data line is enough. */
export function sse(event: string, json: string): string {
  return `event: ${event}\ndata: ${json}\n\n`;
}
