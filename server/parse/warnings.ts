/** What pdf.js complains about while it works on one page: it ignores most faults of a file and says so on the console only. */
export class Warnings {
  any = false;
  /** The page's text ends where its content could not be understood any more. */
  brokeOff = false;

  /** Takes over the console: a parser has no other use for it. */
  static fromConsole(): Warnings {
    const warnings = new Warnings();
    const hear = (text: unknown) => warnings.hear(String(text));
    Object.assign(console, { log: hear, warn: hear });
    return warnings;
  }

  clear(): void {
    this.any = false;
    this.brokeOff = false;
  }

  private hear(text: string): void {
    this.any = true;
    if (text.includes('getTextContent - ignoring errors')) this.brokeOff = true;
  }
}
