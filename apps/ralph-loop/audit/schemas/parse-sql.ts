import { loadModule, type Node, parseSync } from 'libpg-query';
import type { SqlStatement } from './sql-statements.ts';

export type SqlNode = Node;

/** A parsed statement: `offsetOf` says where in the file the parser's location is. */
export interface ParsedStatement {
  readonly node: SqlNode;
  readonly offsetOf: (location: number | undefined) => number;
}

/** Longer ones are data; the parser's own stack is bounded. */
const MAX_STATEMENT = 128 * 1024;

/** PostgreSQL's own parser is loaded once. */
export const readyToParse = loadModule;

/** Parses one statement as PostgreSQL, or as SQLite or a template where that is a matter of words; undefined if it is neither. */
export function parseStatement({ text, start }: SqlStatement): ParsedStatement | undefined {
  if (text.length > MAX_STATEMENT) return undefined;
  const node = firstNode(text) ?? firstNode(inPlainWords(text));
  return node && { node, offsetOf: (location) => start + indexOfByte(text, location ?? 0) };
}

function firstNode(text: string): SqlNode | undefined {
  try {
    return parseSync(text).stmts?.[0]?.stmt;
  } catch {
    // Another dialect, a template, or a mistake: the caller counts it.
    return undefined;
  }
}

const SQLITE_WORDS =
  /\bAUTOINCREMENT\b|\bWITHOUT\s+ROWID\b|(?<=\)\s*)STRICT(?=\s*$)|\bON\s+CONFLICT\s+(?:ROLLBACK|ABORT|FAIL|IGNORE|REPLACE)\b/gi;
/** `:NAME` of psql, `@name@` of extensions, `${name}` and `{{ name }}` of templates: a name goes in there. */
const HOLE = /(?<![:\w]):(?=[A-Za-z_])|@(?=\w+@)|(?<=@\w+)@|\$\{[\w.]+\}|\{\{[^{}]*\}\}/g;

/** The same text in words that PostgreSQL knows, every one where it was. */
const inPlainWords = (text: string): string =>
  text
    .replace(SQLITE_WORDS, (words) => ' '.repeat(words.length))
    .replace(HOLE, (hole) => hole.replace(/\W/g, '_'))
    .replace(/`([^`"\n]*)`/g, '"$1"');

/** The parser counts bytes. */
function indexOfByte(text: string, location: number): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
  if (/^[\x00-\x7f]*$/.test(text)) return Math.max(0, location);
  return Buffer.from(text).subarray(0, Math.max(0, location)).toString().length;
}
