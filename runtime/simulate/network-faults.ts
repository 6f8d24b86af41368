import { z } from 'zod';

const Probability = z.number().min(0).max(1);
const Milliseconds = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);
const Most = z.int().nonnegative();
const AtMs = z.number().nonnegative();
const ForMs = z.number().positive();
const Name = z.string().min(1);

/**
 * A fault of the network at a planned time.
 *
 * - `atMs`    virtual milliseconds after the simulation has started.
 * - `between` both nodes of a link.
 * - `groups`  names of nodes: nothing gets from one group to another. Nodes in no group are one more.
 * - `ms`      how long it lasts, virtual milliseconds. @default of a partition, until `heal`
 */
export const PlannedNetworkFault = z.discriminatedUnion('fault', [
  z.strictObject({ fault: z.literal('cut'), atMs: AtMs, between: z.tuple([Name, Name]) }),
  z.strictObject({ fault: z.literal('stall'), atMs: AtMs, from: Name, to: Name, ms: ForMs }),
  z.strictObject({
    fault: z.literal('partition'),
    atMs: AtMs,
    groups: z.array(z.array(Name)).min(1),
    ms: ForMs.optional(),
  }),
  z.strictObject({ fault: z.literal('heal'), atMs: AtMs }),
]);
export type PlannedNetworkFault = z.infer<typeof PlannedNetworkFault>;

/**
 * The network between the nodes of a simulation. It stands for TCP: frames of one connection keep their order, and are lost
 * only together with it. There are no faults by default.
 *
 * - `delayMs`   range of the time of a frame. @default [1, 40]
 * - `cut`       ends a connection, with all that is under way. Each end is told at once or never. @default most 5
 * - `stall`     holds back all that goes one way between two nodes, for a time in `ms`. @default most 5, ms [100, 20_000]
 * - `partition` parts the nodes at random in two groups, for a time in `ms`. @default most 3, ms [100, 60_000]
 * - `refuse`    has an attempt to connect fail. @default most 20
 * - `planned`   faults at planned times.
 *
 * Ranges are `[least, most]`, virtual milliseconds. A `probability` is per frame, and for `refuse` per attempt.
 */
export const NetworkOptions = z.strictObject({
  delayMs: Milliseconds.default([1, 40]),
  cut: z.strictObject({ probability: Probability, most: Most.default(5) }).optional(),
  stall: z
    .strictObject({
      probability: Probability,
      ms: Milliseconds.default([100, 20_000]),
      most: Most.default(5),
    })
    .optional(),
  partition: z
    .strictObject({
      probability: Probability,
      ms: Milliseconds.default([100, 60_000]),
      most: Most.default(3),
    })
    .optional(),
  refuse: z.strictObject({ probability: Probability, most: Most.default(20) }).optional(),
  planned: z.array(PlannedNetworkFault).default([]),
});
export type NetworkOptions = z.input<typeof NetworkOptions>;

/**
 * What the network has done. `frames` have arrived; `lost` were under way when their connection was cut, or came to an end that
 * was gone.
 */
export interface NetworkCounts {
  dialled: number;
  connected: number;
  refused: number;
  frames: number;
  lost: number;
  cut: number;
  stall: number;
  partition: number;
}

export const noNetworkCounts = (): NetworkCounts => ({
  dialled: 0,
  connected: 0,
  refused: 0,
  frames: 0,
  lost: 0,
  cut: 0,
  stall: 0,
  partition: 0,
});
