/** A part of a program's text: a word, the inside of a string that is fixed, or any other sign. */
export interface SourceToken {
  readonly kind: 'word' | 'string' | 'sign';
  readonly text: string;
  readonly line: number;
}

const WORD = /[\w$\u0080-\uffff]/;

/** Where a program's text is read. It only goes forward, so that reading takes time in proportion to the text. */
export class SourceScanner {
  readonly source: string;
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.source = source;
  }

  get at(): number {
    return this.#at;
  }

  get line(): number {
    return this.#line;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.source.length;
  }

  /** The next character. */
  get char(): string {
    return this.source[this.#at] ?? '';
  }

  startsWith(text: string): boolean {
    return this.source.startsWith(text, this.#at);
  }

  /** Goes on to `end`, which is not before it. */
  moveTo(end: number): void {
    const to = Math.min(end, this.source.length);
    for (; this.#at < to; this.#at++) if (this.source[this.#at] === '\n') this.#line++;
  }

  skip(count = 1): void {
    this.moveTo(this.#at + count);
  }

  /** Goes on to the end of the line, before its sign. */
  skipLine(): void {
    const end = this.source.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.source.length : end;
  }

  /** Goes on behind the next `text`, or to the end. */
  skipPast(text: string): void {
    const at = this.source.indexOf(text, this.#at);
    this.moveTo(at < 0 ? this.source.length : at + text.length);
  }

  get isAtWord(): boolean {
    return WORD.test(this.char);
  }

  word(): SourceToken {
    const from = this.#at;
    while (this.isAtWord) this.#at++;
    return { kind: 'word', text: this.source.slice(from, this.#at), line: this.#line };
  }

  sign(): SourceToken {
    const token: SourceToken = { kind: 'sign', text: this.char, line: this.#line };
    this.skip();
    return token;
  }

  /** A string in quotes, which ends with its line at the latest; undefined for one that has no other end. */
  quoted(): SourceToken | undefined {
    const quote = this.char;
    const from = this.#at + 1;
    const line = this.#line;
    let at = from;
    while (at < this.source.length && this.source[at] !== quote && this.source[at] !== '\n')
      at += this.source[at] === '\\' ? 2 : 1;
    const isClosed = this.source[at] === quote;
    this.moveTo(isClosed ? at + 1 : at);
    return isClosed ? { kind: 'string', text: this.source.slice(from, at), line } : undefined;
  }
}
