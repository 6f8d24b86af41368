import { z } from 'zod';
import type { CodingEvent } from '../coding-event.ts';
import { toldInLine } from '../coding-text.ts';

/** The most entries that are told of a plan. */
export const MAX_ENTRIES = 100;

const Todos = z.array(z.looseObject({ content: z.string(), status: z.string() }));
const STATUS: Readonly<Record<string, 'running' | 'done'>> = { in_progress: 'running', completed: 'done' };

/** The plan that a list of things to do is: what a tool for such lists was given. */
export function planIn(todos: unknown): readonly CodingEvent[] {
  const { data } = Todos.safeParse(todos);
  if (data === undefined) return [];
  const entries = data.slice(0, MAX_ENTRIES).map(({ content, status }) => ({
    text: toldInLine(content),
    status: STATUS[status] ?? ('open' as const),
  }));
  return [{ type: 'planned', entries }];
}
