import { z } from 'zod';

const count = z.int().min(16).max(1_000_000);

/**
 * How many events are kept in memory; a new one replaces the oldest.
 *
 * - `traffic`   events of envelopes, of each thread: how far back `thread()` reaches. @default 1_024
 * - `crossings` envelopes that went from one tier to another, of each thread. @default 512
 * - `security`  refusals and what was declared clean, of the whole system. @default 1_024
 * - `lives`     starts, ends and failures of agents, threads and processes, of the whole system. @default 1_024
 */
export const EventLimits = z.strictObject({
  traffic: count.default(1_024),
  crossings: count.default(512),
  security: count.default(1_024),
  lives: count.default(1_024),
});
export type EventLimits = z.output<typeof EventLimits>;
export type EventOptions = z.input<typeof EventLimits>;
