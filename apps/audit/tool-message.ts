import { AuditReport } from '@orrery/ralph-loop';
import { z } from 'zod';

/** The job of a tool's process, which it reads from its standard input. */
export interface ToolOrder {
  readonly agent: string;
  readonly tool: string;
  readonly module: string;
  readonly root: string;
  readonly files: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
}

/** A line that a tool's process writes: its progress, its result, or its error. */
export const ToolMessage = z.union([
  z.strictObject({ progress: z.tuple([z.number().nonnegative(), z.number().nonnegative()]) }),
  z.strictObject({ result: AuditReport }),
  z.strictObject({ error: z.string() }),
]);
export type ToolMessage = z.infer<typeof ToolMessage>;
