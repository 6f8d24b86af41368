import { z } from 'zod';
import { ERROR_CODES } from './error-codes.ts';
import { Taint } from './taint.ts';

/**
 * An error as it crosses a thread, a process or a socket: an `Error` posted through a port loses name and code.
 *
 * - `stack` of what was thrown, with file and line: for the embedder, and for nobody else.
 * - `taint` where what it says came from outside, if that is more than what is on the work that failed.
 */
export const ErrorData = z
  .object({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).readonly().exactOptional(),
    stack: z.string().exactOptional(),
    taint: Taint.exactOptional(),
  })
  .readonly();
export type ErrorData = z.infer<typeof ErrorData>;
