import { z } from 'zod';

/** What a server is told: how many tools it has, and where the agent runs that has them. */
export const McpOrder = z.strictObject({
  tools: z.int().positive(),
  agent: z.enum(['inline', 'thread']).default('inline'),
});
export type McpOrder = z.input<typeof McpOrder>;

export const orderIn = (argv: readonly string[]): z.output<typeof McpOrder> =>
  McpOrder.parse(JSON.parse(argv[2] ?? '{}'));

/** The names of as many tools. */
export const toolNames = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `add_${String(at).padStart(4, '0')}`);

/** What each tool takes and gives. */
export const Summands = z.object({ a: z.number(), b: z.number() });
export const Sum = z.object({ sum: z.number() });

export const DESCRIPTION = 'Adds two numbers';
/** Of the agent that has the tools, at the front of their names. */
export const AGENT = 'adder';
