import { z } from 'zod';
import { LinkFaults } from './faulty-link.ts';

const Probability = z.number().min(0).max(1);
const Milliseconds = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);
const Most = z.int().nonnegative();
const AtMs = z.number().nonnegative();
const ForMs = z.number().positive();
const DOWN_MS = [10, 2_000] as const;

/**
 * A fault at a planned time.
 *
 * - `atMs`   virtual milliseconds after the team has started.
 * - `place`  as in the roster, such as `worker-1`.
 * - `ms`     how long it lasts, virtual milliseconds.
 * - `factor` how many times as long everything takes.
 */
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
 * The faults of a simulation. There are none by default.
 *
 * - `crash`     ends a worker thread between two of its steps, `most` times in a run. @default most 3
 * - `freeze`    stops a worker thread for a time in `ms`, as if the machine did.
 * - `slow`      makes a worker thread take `factor` times as long for everything; decided when it starts.
 * - `delay`     delays a message between two threads by a time in `ms`. Ports keep their order and lose nothing.
 * - `partition` holds all messages between two threads back for a time in `ms`.
 * - `handler`   makes a handler throw, before its work or after it.
 * - `hostCrash` ends the whole process, as by kill -9, or with probability `powerLoss` by loss of power. It is started again
 *               after a time in `downMs`. @default most 3, powerLoss 0
 * - `slowDisk`  makes a write of the journal take longer, by a time in `ms`.
 * - `fullDisk`  makes the journal's disk full for a time in `ms`. @default most 10
 * - `link`      what `simulation.link()` does to messages: it loses, repeats, delays and reorders them.
 * - `planned`   faults at planned times.
 *
 * Ranges are `[least, most]`, virtual milliseconds. A `probability` is per step; for `delay` per message, for `slow` per
 * thread, for `handler` per envelope, and for `slowDisk` and `fullDisk` per write.
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

/** How long a process stays down if `hostCrash` does not say, virtual milliseconds. */
export const DEFAULT_DOWN_MS: readonly [number, number] = DOWN_MS;

/** The faults that need a journal. */
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

/** How often each fault has occurred. */
export type FaultCounts = Record<(typeof COUNTED)[number], number>;

export const noFaults = (): FaultCounts =>
  Object.fromEntries(COUNTED.map((kind) => [kind, 0])) as FaultCounts;
