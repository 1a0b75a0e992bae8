/** A new password for the command line. Never an argument: those are in the shell's history and in every list of processes. */
import readline from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Asked for twice without being shown, or the first line of standard input. Throws when it cannot be asked for, or the two differ. */
export async function readNewPassword({ fromStdin }: { fromStdin: boolean }): Promise<string> {
  if (fromStdin) return firstLine(await text(process.stdin));
  if (!process.stdin.isTTY) throw new Error('A password is asked for at a terminal. From a script, send it to standard input: … --password-stdin < file');
  const password = await ask('New password: ');
  if (await ask('Again: ') !== password) throw new Error('The two passwords are not the same. Nothing was changed.');
  return password;
}

function firstLine(input: string): string {
  const line = input.split(/\r?\n/, 1)[0] ?? '';
  if (line === '') throw new Error('Expected the password on the first line of standard input, found nothing. Nothing was changed.');
  return line;
}

/** The question goes to stderr, what is typed nowhere. */
function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  process.stderr.write(question);
  const line = readline.createInterface({ input: process.stdin, output: nowhere, terminal: true });
  return new Promise((resolve, reject) => {
    line.once('SIGINT', () => line.close());
    line.once('close', () => reject(new Error('Stopped. Nothing was changed.')));
    line.question('', (typed) => {
      process.stderr.write('\n');
      resolve(typed);
      line.close();
    });
  });
}
