import { z } from 'zod';
import { LinkFaults } from './faulty-link.ts';

const Probability = z.number().min(0).max(1);
const Milliseconds = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);
const Most = z.int().nonnegative();
const AtMs = z.number().nonnegative();
const ForMs = z.number().positive();
const DOWN_MS = [10, 2_000] as const;

/** One that is to happen at a certain time, virtual milliseconds after the team has started. `place` as in the roster. */
export const PlannedFault = z.discriminatedUnion('fault', [
  z.strictObject({ fault: z.literal('crash'), atMs: AtMs, place: z.string() }),
  z.strictObject({ fault: z.literal('freeze'), atMs: AtMs, place: z.string(), ms: ForMs }),
  z.strictObject({ fault: z.literal('slow'), atMs: AtMs, place: z.string(), factor: z.number().min(1) }),
  z.strictObject({
    fault: z.literal('partition'),
    atMs: AtMs,
    places: z.tuple([z.string(), z.string()]),
    ms: ForMs,
  }),
  z.strictObject({ fault: z.literal('hostCrash'), atMs: AtMs, powerLoss: z.boolean().optional() }),
  z.strictObject({ fault: z.literal('slowDisk'), atMs: AtMs, ms: ForMs }),
  z.strictObject({ fault: z.literal('fullDisk'), atMs: AtMs, ms: ForMs }),
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
 * - `hostCrash` the whole process ends, as by kill -9, or with a probability of `powerLoss` by the loss of power; after a
 *               time in `downMs` it is started again. @default most 3, powerLoss 0
 * - `slowDisk`  the journal takes longer for a write, by a time in `ms`.
 * - `fullDisk`  the journal cannot write for a time in `ms`. @default most 10
 * - `link`      what `simulation.link()` does to messages: it loses, repeats, delays and reorders them.
 * - `planned`   those that happen at a certain time.
 *
 * A `probability` is one a step, of `delay` one a message, of `slow` one a thread, of `handler` one an envelope, of
 * `slowDisk` and `fullDisk` one a write.
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
  hostCrash: z
    .strictObject({
      probability: Probability,
      most: Most.default(3),
      powerLoss: Probability.default(0),
      downMs: Milliseconds.default([...DOWN_MS]),
    })
    .optional(),
  slowDisk: z.strictObject({ probability: Probability, ms: Milliseconds.default([10, 2_000]) }).optional(),
  fullDisk: z
    .strictObject({ probability: Probability, ms: Milliseconds.default([10, 3_000]), most: Most.default(10) })
    .optional(),
  link: LinkFaults.optional(),
  planned: z.array(PlannedFault).default([]),
});
export type Faults = z.input<typeof Faults>;

/** How long a process is away that ended by a planned crash, where `hostCrash` does not say, milliseconds. */
export const DEFAULT_DOWN_MS: readonly [number, number] = DOWN_MS;

/** The kinds of faults that only a system with a journal can have. */
export const FAULTS_OF_DISKS = ['slowDisk', 'fullDisk'] as const;

const COUNTED = [
  'crash',
  'freeze',
  'slow',
  'delay',
  'partition',
  'handler',
  'hostCrash',
  'slowDisk',
  'fullDisk',
] as const;

/** How often each kind of fault has happened. */
export type FaultCounts = Record<(typeof COUNTED)[number], number>;

export const noFaults = (): FaultCounts =>
  Object.fromEntries(COUNTED.map((kind) => [kind, 0])) as FaultCounts;
