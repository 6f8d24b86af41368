/**
 * The text of a file, by lines that end at `\n`.
 *
 * Compilers, parsers and scanners count lines differently (U+2028, lone carriage returns). So every finding's line is
 * computed here from an offset, and MERCURY reads it here too.
 */
export class SourceText {
  /** Relative to the repository, with `/`. */
  readonly file: string;
  readonly text: string;
  #starts: number[] | undefined;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  /** The line and column of an offset, both from 1. */
  positionAt(offset: number): { line: number; column: number } {
    const starts = this.#lineStarts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(0, offset - (starts[low] as number)) + 1 };
  }

  /** The text of a line without its end; undefined after the last line. */
  line(number: number): string | undefined {
    const start = this.startOf(number);
    if (start === undefined) return undefined;
    const end = this.text.indexOf('\n', start);
    const line = this.text.slice(start, end === -1 ? undefined : end);
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  /** The offset of the first character of a line. */
  startOf(number: number): number | undefined {
    return this.#lineStarts()[number - 1];
  }

  #lineStarts(): number[] {
    if (this.#starts === undefined) {
      this.#starts = [0];
      for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) {
        this.#starts.push(at + 1);
      }
    }
    return this.#starts;
  }
}
