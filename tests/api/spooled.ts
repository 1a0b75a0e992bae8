import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Folders of upload requests that still lie in the spool. */
export async function spooled(folder: string): Promise<string[]> {
  const homes = await readdir(folder);
  return (await Promise.all(homes.map((home) => readdir(path.join(folder, home))))).flat();
}
