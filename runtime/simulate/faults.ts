import { z } from 'zod';

const Probability = z.number().min(0).max(1);
const Milliseconds = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);
const Most = z.int().nonnegative();

/** One that is to happen at a certain time, virtual milliseconds after the team has started. `place` as in the roster. */
export const PlannedFault = z.discriminatedUnion('fault', [
  z.strictObject({ fault: z.literal('crash'), atMs: z.number().nonnegative(), place: z.string() }),
  z.strictObject({
    fault: z.literal('freeze'),
    atMs: z.number().nonnegative(),
    place: z.string(),
    ms: z.number().positive(),
  }),
  z.strictObject({
    fault: z.literal('slow'),
    atMs: z.number().nonnegative(),
    place: z.string(),
    factor: z.number().min(1),
  }),
  z.strictObject({
    fault: z.literal('partition'),
    atMs: z.number().nonnegative(),
    places: z.tuple([z.string(), z.string()]),
    ms: z.number().positive(),
  }),
]);
export type PlannedFault = z.infer<typeof PlannedFault>;

/**
 * What goes wrong in a simulation. Nothing does by default.
 *
 * - `crash`     a worker thread ends between two of its steps; `most` such deaths in a run. @default most 3
 * - `freeze`    a worker thread does nothing for a time in `ms`, as if the machine had stopped it.
 * - `slow`      a worker thread takes `factor` times as long for everything; decided when it starts.
 * - `delay`     a message between two threads takes longer, by a time in `ms`. Ports keep their order and lose nothing.
 * - `partition` nothing gets from one thread to another, and back, for a time in `ms`; then it does.
 * - `handler`   an agent's handler throws: before it has done anything, or after all that it did.
 * - `planned`   those that happen at a certain time.
 *
 * A `probability` is one a step, of `delay` one a message, of `slow` one a thread, of `handler` one an envelope.
 */
export const Faults = z.strictObject({
  crash: z.strictObject({ probability: Probability, most: Most.default(3) }).optional(),
  freeze: z
    .strictObject({
      probability: Probability,
      ms: Milliseconds.default([50, 2_000]),
      most: Most.default(10),
    })
    .optional(),
  slow: z
    .strictObject({
      probability: Probability,
      factor: z.tuple([z.number().min(1), z.number().min(1)]).default([2, 20]),
    })
    .optional(),
  delay: z.strictObject({ probability: Probability, ms: Milliseconds.default([1, 100]) }).optional(),
  partition: z
    .strictObject({
      probability: Probability,
      ms: Milliseconds.default([10, 1_000]),
      most: Most.default(10),
    })
    .optional(),
  handler: z
    .strictObject({
      probability: Probability,
      agents: z.array(z.string()).optional(),
      most: Most.default(1_000),
    })
    .optional(),
  planned: z.array(PlannedFault).default([]),
});
export type Faults = z.input<typeof Faults>;

/** How often each kind of fault has happened. */
export type FaultCounts = Record<'crash' | 'freeze' | 'slow' | 'delay' | 'partition' | 'handler', number>;
