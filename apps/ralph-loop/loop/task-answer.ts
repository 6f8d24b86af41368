import type { z } from 'zod';
import { schemaFaults } from '../mission/schema-faults.ts';
import type { TaskEvent } from './task-context.ts';
import { TaskResult } from './task-result.ts';

/** The event for an agent's answer: its result, or the faults of an invalid one. */
export function taskAnswer(output: unknown, atMs: number): TaskEvent {
  const result = TaskResult.safeParse(output);
  if (result.success) return { type: 'agent.answered', result: result.data, atMs };
  return { type: 'answer.invalid', why: faultsOf(result.error, output), atMs };
}

const MAX_FAULTS = 5;

const faultsOf = (error: z.ZodError, output: unknown): string =>
  schemaFaults(error, output, 'it').slice(0, MAX_FAULTS).join('; ');
