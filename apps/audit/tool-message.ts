import { AuditReport } from '@orrery/ralph-loop';
import { z } from 'zod';

/** What a tool's process is started to do: it reads one from its standard input. */
export interface ToolOrder {
  readonly agent: string;
  readonly tool: string;
  readonly module: string;
  readonly root: string;
  readonly files: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
}

/** A line of what a tool's process writes: how far it is, what it came to, or what it threw. */
export const ToolMessage = z.union([
  z.strictObject({ progress: z.tuple([z.number().nonnegative(), z.number().nonnegative()]) }),
  z.strictObject({ result: AuditReport }),
  z.strictObject({ error: z.string() }),
]);
export type ToolMessage = z.infer<typeof ToolMessage>;
