import { z } from 'zod';
import type { CodingEvent } from '../coding-event.ts';
import { told } from '../coding-text.ts';

/**
 * Makes events of the lines of a program. It keeps little, whatever it is given, and throws nothing.
 *
 * - `read` what one line says. A line that says nothing to anybody is no event.
 * - `end`  what is left to be said when there are no more lines.
 */
export interface StreamReader {
  read(line: string): readonly CodingEvent[];
  end(): readonly CodingEvent[];
}

/** What one kind of line says; undefined for a line that it cannot be. */
export type LineKind = (line: unknown) => readonly CodingEvent[] | undefined;

/** A kind of line: what it must be, and what it says then. */
export const lineKind =
  <Schema extends z.ZodType>(
    schema: Schema,
    eventsOf: (line: z.output<Schema>) => readonly CodingEvent[],
  ): LineKind =>
  (line) => {
    const parsed = schema.safeParse(line);
    return parsed.success ? eventsOf(parsed.data) : undefined;
  };

const Typed = z.looseObject({ type: z.string() });

/**
 * What a line of JSON says by its field `type`. Of types that nobody knows nothing is said; a line that is none, or not of its
 * kind, is `unreadable`.
 */
export function readTyped(line: string, kinds: Readonly<Record<string, LineKind>>): readonly CodingEvent[] {
  const typed = Typed.safeParse(jsonOf(line));
  if (!typed.success) return [unreadable(line)];
  const { type } = typed.data;
  if (!Object.hasOwn(kinds, type)) return [];
  return kinds[type]?.(typed.data) ?? [unreadable(line)];
}

export const unreadable = (line: string): CodingEvent => ({ type: 'unreadable', text: told(line) });

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
