/** One browser's stream as the hub sees it. */
export interface LiveStream {
  /** Takes whole events, ready for the wire. Never throws; may drop them, and then asks the hub for a resnapshot later. */
  deliver(event: SentEvent): void;
}

/** One server-sent event, encoded once for however many streams it goes to. */
export interface SentEvent {
  text: Buffer;
  /** The same bytes as one chunk of a chunked answer. */
  chunk: Buffer;
}

/** JSON has no line breaks of its own, so one data line is enough. */
export function sse(event: string, json: string): SentEvent {
  return wire(`event: ${event}\ndata: ${json}\n\n`);
}

export function wire(text: string): SentEvent {
  const head = `${Buffer.byteLength(text).toString(16)}\r\n`;
  const chunk = Buffer.from(`${head}${text}\r\n`);
  return { text: chunk.subarray(head.length, -2), chunk };
}
