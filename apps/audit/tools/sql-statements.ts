/** A statement without its semicolon. `start` is the offset of its first word. */
export interface SqlStatement {
  readonly text: string;
  readonly start: number;
}

/** Tokens that may contain a semicolon: comments, strings, names. `$tag$` and `/*` match only their beginning. */
const TOKEN =
  /--[^\n]*|\/\*|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`\n]*`|\$[A-Za-z_\d]*\$|;|[^\s'"`$;/eE-]+|\s+|[\s\S]/y;
const COPY = /^copy\s[\s\S]*\sfrom\s+stdin\b/i;

/** Splits SQL into statements, as psql does. Text after `COPY … FROM stdin` is data. */
export function* sqlStatements(text: string): Generator<SqlStatement> {
  let start = -1;
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    const end = endOf(token, text, at);
    if (token === ';') {
      if (start !== -1) yield { text: text.slice(start, at), start };
      at = start !== -1 && COPY.test(text.slice(start, start + LOOKED_AT)) ? endOfData(text, end) : end;
      start = -1;
      continue;
    }
    if (isPsqlCommand(token, text, at)) {
      at = lineEnd(text, at);
      continue;
    }
    if (start === -1 && !isBlank(token)) start = at;
    at = end;
  }
  if (start !== -1) yield { text: text.slice(start), start };
}

const LOOKED_AT = 2_000;

const isBlank = (token: string): boolean =>
  token.startsWith('--') || token.startsWith('/*') || token.trim() === '';

/** Whether a token begins a command of psql, such as `\connect shop`, on its own line. */
const isPsqlCommand = (token: string, text: string, at: number): boolean =>
  token.startsWith('\\') && (at === 0 || text[at - 1] === '\n');

function endOf(token: string, text: string, at: number): number {
  if (token === '/*') return endOfComment(text, at + 2);
  if (token.length > 1 && token.startsWith('$')) {
    const end = text.indexOf(token, at + token.length);
    return end === -1 ? text.length : end + token.length;
  }
  return at + token.length;
}

/** The end of a comment; comments of SQL nest. */
function endOfComment(text: string, from: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  let depth = 1;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

function endOfData(text: string, from: number): number {
  const end = text.indexOf('\n\\.', from);
  return end === -1 ? text.length : lineEnd(text, end + 1);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}
