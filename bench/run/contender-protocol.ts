import { z } from 'zod';

/** Which contender a process is for; its only argument, as JSON. `openMs` and `warmUpMs` are as in `Race` and `Effort`. */
export const ContenderOrder = z.strictObject({
  plugin: z.url(),
  race: z.string(),
  contender: z.string(),
  openMs: z.int(),
  runMs: z.int(),
  warmUpMs: z.int(),
});
export type ContenderOrder = z.infer<typeof ContenderOrder>;

/** What it is told: to open itself and warm up, to run once, to close and end. */
export const Turn = z.enum(['open', 'run', 'close']);
export type Turn = z.infer<typeof Turn>;

/**
 * What one run took.
 *
 * - `cpuMicroseconds`       of all threads of the contender's process and of all processes below it, for one operation.
 * - `childCpuMicroseconds`  of the latter alone.
 * - `bytes`                 resident after it, of all these processes.
 */
export const RunTaken = z.strictObject({
  perSecond: z.number(),
  cpuMicroseconds: z.number(),
  childCpuMicroseconds: z.number(),
  bytes: z.number(),
});
export type RunTaken = z.infer<typeof RunTaken>;

/**
 * What it answers to each.
 *
 * - `startBytes`  resident before it was opened: Node, and the modules of the race.
 * - `peakBytes`   resident at most.
 */
export const TurnAnswer = z.discriminatedUnion('answer', [
  z.strictObject({ answer: z.literal('opened'), startBytes: z.number(), bytes: z.number() }),
  z.strictObject({ answer: z.literal('ran'), ...RunTaken.shape }),
  z.strictObject({ answer: z.literal('closed'), peakBytes: z.number() }),
  z.strictObject({ answer: z.literal('failed'), reason: z.string(), isUnavailable: z.boolean() }),
]);
export type TurnAnswer = z.infer<typeof TurnAnswer>;

export type AnswerTo<Name extends TurnAnswer['answer']> = Extract<TurnAnswer, { answer: Name }>;
