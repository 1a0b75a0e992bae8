/** How a process is given a wrong calendar. */
import fs from 'node:fs';
import path from 'node:path';

/** Where Debian, Fedora and Homebrew put it; FAKETIME_LIBRARY names another place. */
const PLACES = [process.env.FAKETIME_LIBRARY, '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib64/faketime/libfaketime.so.1', '/usr/local/lib/faketime/libfaketime.so.1'];

export interface Skewing {
  /** Which of the two it is, for the report. */
  by: string;
  environment(seconds: number): Record<string, string>;
  nodeArguments: string[];
}

export function chooseSkewing(): Skewing {
  const library = PLACES.find((file) => file && fs.existsSync(file));
  if (library) {
    return {
      by: `libfaketime (${library})`, nodeArguments: [],
      environment: (seconds) => ({ LD_PRELOAD: library, FAKETIME: `${seconds >= 0 ? '+' : ''}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' }),
    };
  }
  return {
    by: 'a preload that shifts Date (libfaketime was not found)', nodeArguments: ['--import', path.join(import.meta.dirname, 'skewed-clock.mjs')],
    environment: (seconds) => ({ CLOCK_SKEW_SECONDS: String(seconds) }),
  };
}
