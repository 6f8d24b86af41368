import { z } from 'zod';

/**
 * What is remembered, as the agent of a task with `recall` is given it: the list `remembered` of its input.
 *
 * - `subject`   what it says something about.
 * - `layer`, `scope` whose it is: of this project, or of a team, an organisation or all.
 * - `updatedAt` when it was said, Unix milliseconds.
 * - `taint`     where it came from outside.
 */
export const Remembered = z.object({
  memory_id: z.string(),
  content: z.string(),
  subject: z.string().optional(),
  layer: z.string(),
  scope: z.string(),
  tags: z.array(z.string()).readonly(),
  updatedAt: z.number(),
  taint: z.array(z.string()).readonly().optional(),
});
export type Remembered = z.infer<typeof Remembered>;
