/** Where the server stops counting (server/console/queue-page.ts). */
const CAP = 10_001;

/** "0", "1,204", "10,000+". */
export function count(n: number): string {
  return n >= CAP ? '10,000+' : n.toLocaleString('en-GB');
}

/** "1 lease", "2 leases", "10,000+ leases". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
