import { z } from 'zod';
import { Taint } from './taint.ts';

/** Whose state it is: a machine by its id, the version of its agent, and a hash of what the state is made of. */
export const StateIdentity = z.strictObject({
  machineId: z.string().min(1),
  version: z.string().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal digits'),
});
export type StateIdentity = z.infer<typeof StateIdentity>;

/**
 * An agent's state as data, and what it is the state of.
 *
 * - `machineId` id of its XState machine or, without one, of the agent that its module defines.
 * - `version`   of the agent's card.
 * - `hash`      SHA-256 of the machine's structure and of the schema that the state is declared with.
 * - `state`     JSON. Of a machine what XState persists, and under `timers` the delayed events that are still to come; of
 *               transition logic its state; of handlers what `onStart` made.
 * - `atMs`      when it was taken, Unix milliseconds.
 * - `taint`     where what is in it came from outside, if anything did.
 */
export const Snapshot = StateIdentity.extend({
  agentId: z.string().min(1),
  state: z.json(),
  atMs: z.number(),
  taint: Taint.optional(),
});
export type Snapshot = z.infer<typeof Snapshot>;
