/** Forms of this console are a few short fields; a body without end must not fill the memory, least of all before anybody has signed in. */
const MAX_BYTES = 16 * 1024;

/** The fields of a posted form (application/x-www-form-urlencoded). Throws a 413 Response beyond 16 kB. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const reader = request.body?.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    bytes += part.value.byteLength;
    // Not cancelled: that would cut the connection before the answer. Node throws away what still comes.
    if (bytes > MAX_BYTES) throw new Response(`A form has at most ${MAX_BYTES} bytes here. Nothing was changed.`, { status: 413 });
    parts.push(part.value);
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}
