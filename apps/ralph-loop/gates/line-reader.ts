import { stripVTControlCharacters } from 'node:util';

/** Characters of a line that are read; summaries are shorter. */
const MAX_LINE = 2_000;

/** Cuts a text into lines, without colours. Of a longer line the first 2,000 characters are kept. */
export class LineReader {
  readonly #tell: (line: string) => void;
  #open = '';

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  write(text: string): void {
    let at = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
      this.#add(text, at, end);
      this.#close();
      at = end + 1;
    }
    this.#add(text, at, text.length);
  }

  /** A last line need not be ended. */
  end(): void {
    if (this.#open !== '') this.#close();
  }

  #add(text: string, from: number, to: number): void {
    const room = MAX_LINE - this.#open.length;
    if (room > 0 && to > from) this.#open += text.slice(from, Math.min(to, from + room));
  }

  #close(): void {
    const line = this.#open;
    this.#open = '';
    this.#tell(line.includes('\x1b') ? plain(line) : plainEnd(line));
  }
}

const plain = (line: string): string => plainEnd(stripVTControlCharacters(line));

/** What a line that was overwritten shows at its end, without spaces there. */
function plainEnd(line: string): string {
  const text = line.trimEnd();
  return text.slice(text.lastIndexOf('\r') + 1);
}
