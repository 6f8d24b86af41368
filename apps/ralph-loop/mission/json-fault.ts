/** Where a text is invalid JSON, counted from 1, and the parser's reason. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

/** Parses JSON; returns the value, or where the text is invalid. */
export function parseJson(text: string): { value: unknown } | { fault: JsonFault } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: faultOf(text, (error as Error).message) };
  }
}

function faultOf(text: string, message: string): JsonFault {
  const before = text.slice(0, offsetOf(text, message));
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return { line, column, reason: message.replace(/( in JSON)? at position.*$|, (\.{3})?".*$/s, '') };
}

function offsetOf(text: string, message: string): number {
  const told = /at position (\d+)/.exec(message)?.[1];
  if (told !== undefined) return Number(told);
  return message.startsWith('Unexpected token') ? offsetOfUnexpectedToken(text) : text.length;
}

/**
 * V8 quotes an unexpected token but does not say where it is. Every prefix with the token fails in the same way and no
 * shorter one does, so the shortest failing prefix ends at it.
 */
function offsetOfUnexpectedToken(text: string): number {
  let without = 0;
  let holding = text.length;
  while (holding - without > 1) {
    const middle = (without + holding) >> 1;
    if (hasUnexpectedToken(text.slice(0, middle))) holding = middle;
    else without = middle;
  }
  return without;
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}
