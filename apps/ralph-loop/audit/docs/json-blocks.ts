import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** What is left out, or to be filled in, of a block that only shows how something looks. */
const ABRIDGED = /\.{3}|…|<[a-z][^<>"]*>|\{\{|\$\{|\[\[/i;

/** Why a text is not JSON, and in which of its lines, counted from 0. */
export interface JsonFault {
  readonly message: string;
  readonly line: number;
}

/**
 * What is wrong with the text of a block that says it is JSON.
 *
 * Blocks that are abridged, have comments, show a part of an object or several values are meant for readers.
 */
export function jsonFault(text: string): JsonFault | undefined {
  if (text.trim() === '' || ABRIDGED.test(text) || isJson(text) || hasComments(text)) return undefined;
  const part = text.trim().replace(/,$/, '');
  if (isJson(`{${part}}`) || isJson(`[${part}]`)) return undefined;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const severals = [lines, part.split(/\n\s*\n/), part.split(/\n(?=[{[])/)];
  if (severals.some((values) => values.length > 1 && values.every(isJson))) return undefined;
  const [first] = errorsIn(text);
  if (first === undefined) return undefined;
  const words = printParseErrorCode(first.error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  const message = `The block is not JSON: ${words}`;
  return { message, line: text.slice(0, first.offset).split('\n').length - 1 };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const hasComments = (text: string): boolean => errorsIn(text, false).length < errorsIn(text).length;

function errorsIn(text: string, disallowComments = true): readonly ParseError[] {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments });
  } catch (error) {
    // Nested more deeply than the parser's stack: nobody reads that.
    if (!(error instanceof RangeError)) throw error;
  }
  return errors;
}
