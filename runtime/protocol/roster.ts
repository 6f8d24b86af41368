import { z } from 'zod';
import type { MachineFacts, NextTimer } from './system-event.ts';
import type { StateIdentity } from './snapshot.ts';

/** The status of an agent. `parked`: it has a state that its code cannot go on with, and waits for other code. */
export type AgentStatus = 'starting' | 'running' | 'restarting' | 'parked' | 'stopped' | 'failed';

/**
 * One line of `orrery agents`.
 *
 * - `place`     `process-<pid>` if the agent's code has a process of its own.
 * - `pid`       of that process.
 * - `threadId`  of the agent's worker thread.
 * - `waiting`   how many envelopes are in the mailbox, of `capacity`.
 * - `retryAtMs` when a failed agent is tried again, Unix milliseconds.
 * - `parked`    why the code `to` cannot go on with the state `from`; without `to` the code keeps no state.
 * - `actors`    those that the runtime has for the agent, if they were asked for and there are some.
 */
export interface RosterRow {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly tier: number;
  readonly capabilities: readonly string[];
  readonly place: string;
  readonly pid?: number;
  readonly threadId?: number;
  readonly status: AgentStatus;
  readonly waiting: number;
  readonly capacity: number;
  readonly restarts: number;
  readonly supervision: SupervisionRow;
  readonly lastError?: string;
  readonly retryAtMs?: number;
  readonly actors?: readonly ActorRow[];
  readonly parked?: { readonly reason: string; readonly from: StateIdentity; readonly to?: StateIdentity };
}

/**
 * The restarts of an agent's group against what is allowed: with more than `maxRestarts` within `withinMs`, milliseconds, its
 * supervisor gives up.
 *
 * - `group`    the name of its group; absent if it is supervised alone.
 * - `restarts` those that were charged to the group within that time.
 */
export interface SupervisionRow {
  readonly group?: string;
  readonly strategy: 'one-for-one' | 'one-for-all' | 'rest-for-one';
  readonly restarts: number;
  readonly maxRestarts: number;
  readonly withinMs: number;
}

/**
 * An actor that the runtime has for an agent, such as its negotiator: its state machine, the state of that, and its children. An
 * actor that is over is left out.
 *
 * - `nextTimer` of its delayed events the next one.
 * - `facts`     what an operator wants to know of it.
 */
export interface ActorRow {
  readonly id: string;
  readonly machine: string;
  readonly state: string;
  readonly nextTimer?: NextTimer;
  readonly facts?: MachineFacts;
  readonly children?: readonly ActorRow[];
}

/** `actors`: each row lists the actors of its agent. The threads are asked; one that does not answer lists none. @default false */
export const RosterOptions = z.strictObject({ actors: z.boolean().default(false) });
export type RosterOptions = Readonly<z.input<typeof RosterOptions>>;
