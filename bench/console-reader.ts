/** What an attached console costs: its live board, in a process of its own as in production. */
import { fork } from 'node:child_process';
import path from 'node:path';

export async function attachConsole(url: string): Promise<{ detach(): Promise<void> }> {
  const child = fork(path.join(import.meta.dirname, 'console-reader-process.ts'), { execArgv: ['--import', 'tsx'], env: { ...process.env, BENCH_URL: url } });
  await new Promise((resolve, reject) => { child.once('message', resolve); child.once('exit', reject); });
  return {
    async detach() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await ended;
    },
  };
}
