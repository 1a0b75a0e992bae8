/** fetch whose answer breaks off after `maxBytes`: a body without end costs no memory. Heeds the signal to the last byte. */
export function cappedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, headers } = response;
    return new Response(response.body?.pipeThrough(cap(maxBytes)) ?? null, { status, statusText, headers });
  };
}

function cap(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`The answer is longer than ${maxBytes} bytes.`));
      else controller.enqueue(part);
    },
  });
}
