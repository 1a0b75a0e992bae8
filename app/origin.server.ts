import type { Config } from '../server/config.js';

/** The console as whoever asks reaches it, without a slash at the end: paths are put after it. */
export function originOf({ publicUrl }: Pick<Config, 'publicUrl'>, request: Request): string {
  return publicUrl?.replace(/\/+$/, '') ?? new URL(request.url).origin;
}
