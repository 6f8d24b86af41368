import { z } from 'zod';

/**
 * What a server of a benchmark is to be, as its process is told.
 *
 * - `kept`  tasks are kept in this file. @default in memory
 * - `isSynced` the other's commits survive the loss of power, as ours do. @default true
 * - `tasks` there already when it begins, one artifact each.
 * - `agent` where our agent runs. @default in the thread of the server, as the other's does
 */
export const ServerOrder = z.strictObject({
  kept: z.string().optional(),
  isSynced: z.boolean().default(true),
  tasks: z.int().nonnegative().default(0),
  agent: z.enum(['inline', 'thread']).default('inline'),
});
export type ServerOrder = z.input<typeof ServerOrder>;

export const serverOrderOf = (argv: readonly string[]): z.output<typeof ServerOrder> =>
  ServerOrder.parse(JSON.parse(argv[2] ?? '{}'));

/** A server says where it listens on a line of its own. */
export const Listening = z.strictObject({ url: z.string() });

/** How many pieces of an artifact a message asks for; `work`: one. */
export function chunksIn(text: string): number {
  const count = /^chunks (\d+)$/.exec(text)?.[1];
  return count === undefined ? 1 : Number(count);
}

export const CHUNK = 'A line of a report that is made piece by piece.\n';
/** What a task is given, and what it makes of it; told of, it says in between that it has begun. */
export const WORK = 'Look at the findings of today and say what is to be done.';
export const TOLD_WORK = `${WORK} Tell me when you begin.`;
export const ANSWER = 'Three findings: two are to be fixed today, one can wait until the next release.';
