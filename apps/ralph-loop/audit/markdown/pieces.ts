/** A part of a text, and where it begins in it. */
export interface Piece {
  readonly text: string;
  readonly offset: number;
}

/** From this length on a piece ends before the next heading: small ones leave nothing for the collector to keep. */
const ENOUGH = 2 * 1024;
/** From this length on it ends before the next line, whatever that is. */
const TOO_LONG = 48 * 1024;

const FENCE = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/;
const HEADING = /^#{1,6}\s/;

/**
 * Cuts a Markdown document into pieces that can be parsed by themselves: the parser needs a thousand times the memory of
 * what it is given.
 *
 * Cuts neither in a block of code nor in a comment. A block of code that is too long for one piece is left out.
 */
export function* piecesOf(text: string): Generator<Piece> {
  let start = 0;
  const state = new BlockState();
  for (let at = 0; at < text.length; ) {
    const end = endOfLine(text, at);
    const line = text.slice(at, Math.min(end, at + LOOKED_AT));
    const length = at - start;
    if (state.isOutside && (length > TOO_LONG || (length > ENOUGH && HEADING.test(line)))) {
      if (length <= 2 * TOO_LONG) yield { text: text.slice(start, at), offset: start };
      start = at;
    }
    state.read(line);
    at = end;
  }
  if (text.length - start <= 2 * TOO_LONG) yield { text: text.slice(start), offset: start };
}

/** Marks stand at the beginning of a line; comments that begin further along a line end soon. */
const LOOKED_AT = 1_000;

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** Whether a line stands in a block of code or in a comment. */
class BlockState {
  #fence: string | undefined;
  #isComment = false;

  get isOutside(): boolean {
    return this.#fence === undefined && !this.#isComment;
  }

  read(line: string): void {
    const mark = FENCE.exec(line)?.[1];
    if (this.#fence !== undefined) {
      const isEnd = mark?.startsWith(this.#fence) && line.trimEnd().endsWith(mark);
      if (isEnd) this.#fence = undefined;
    } else if (this.#isComment) this.#isComment = !line.includes('-->');
    else if (mark !== undefined) this.#fence = mark;
    else this.#isComment = line.lastIndexOf('<!--') > line.lastIndexOf('-->');
  }
}
