const NEWLINE = 0x0a;

export interface LineReaderDeps {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Called once for a line of more than `maxBytes`, as soon as that is known. The rest of the line is skipped. */
  readonly onTooLong: () => void;
  /** Called with the bytes that have come so far of a line that is too long. */
  readonly onSkipped: (bytes: number) => void;
}

/** Splits bytes into lines of UTF-8. It holds one line at most, of at most `maxBytes` bytes. Blank lines are left out. */
export class LineReader {
  readonly #deps: LineReaderDeps;
  #parts: Buffer[] = [];
  #length = 0;
  #skipped = 0;

  constructor(deps: LineReaderDeps) {
    this.#deps = deps;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) return this.#keep(chunk.subarray(from));
      this.#keep(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
    }
  }

  /** The bytes that have come are over: a last line without an end is one, too. */
  end(): void {
    this.#finish();
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    if (this.#skipped > 0) return this.#skip(part.length);
    this.#length += part.length;
    if (this.#length <= this.#deps.maxBytes) {
      this.#parts.push(part);
      return;
    }
    const length = this.#length;
    this.#forget();
    this.#deps.onTooLong();
    this.#skip(length);
  }

  #skip(bytes: number): void {
    this.#skipped += bytes;
    this.#deps.onSkipped(this.#skipped);
  }

  #finish(): void {
    // Of a line that is too long, no part is held.
    this.#skipped = 0;
    const line = Buffer.concat(this.#parts, this.#length).toString('utf8');
    this.#forget();
    if (line.trim() !== '') this.#deps.onLine(line);
  }

  #forget(): void {
    this.#parts = [];
    this.#length = 0;
  }
}
