import { z } from 'zod';
import { Taint } from './taint.ts';

/** What a state belongs to: the machine's id, the version of its agent, and a hash of the state's structure. */
export const StateIdentity = z.strictObject({
  machineId: z.string().min(1),
  version: z.string().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal digits'),
});
export type StateIdentity = z.infer<typeof StateIdentity>;

/**
 * An agent's state as data, with its identity.
 *
 * - `machineId` id of its XState machine or, without one, of the agent that its module defines.
 * - `version`   of the agent's card.
 * - `hash`      SHA-256 of the machine's structure and of the schema that the state is declared with.
 * - `state`     JSON. Of a machine it is what XState persists, with the pending delayed events under `timers`. Of transition
 *               logic it is its state; of handlers it is what `onStart` made.
 * - `atMs`      when it was taken, Unix milliseconds.
 * - `taint`     the sources outside from which something in it came, if any.
 */
export const Snapshot = StateIdentity.extend({
  agentId: z.string().min(1),
  state: z.json(),
  atMs: z.number(),
  taint: Taint.optional(),
});
export type Snapshot = z.infer<typeof Snapshot>;
