/** Characters that take two columns of a terminal: those of East Asia, and pictures. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/u;
/** Marks that stand on the character before them. */
const MARK = /[\p{Mn}\p{Me}]/u;
const PLAIN = /^[\u0020-\u007E]*$/;

const widthOf = (character: string): number => (MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** The text cut to so many columns; what is cut ends with an ellipsis. */
export function fit(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (columnsOf(text) <= columns) return text;
  let cut = '';
  let taken = 0;
  for (const character of text) {
    taken += widthOf(character);
    if (taken > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** The text in exactly so many columns. */
export function cell(text: string, columns: number): string {
  const cut = fit(text, columns);
  return `${cut}${' '.repeat(Math.max(0, columns - columnsOf(cut)))}`;
}

/** As `cell`, with the text at the end. */
export function numberCell(text: string, columns: number): string {
  const cut = fit(text, columns);
  return `${' '.repeat(Math.max(0, columns - columnsOf(cut)))}${cut}`;
}

/** The text in lines of at most so many columns, broken between words; of more than `most` lines the last is cut. */
export function wrapped(text: string, columns: number, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (columnsOf(longer) <= columns || line === '') line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  lines.push(line);
  const shown = lines.slice(0, most - 1).map((one) => fit(one, columns));
  return [...shown, fit(lines.slice(most - 1).join(' '), columns)].slice(0, lines.length);
}
