import { z } from 'zod';
import type { StateIdentity } from './snapshot.ts';

/** The status of an agent. `parked`: it has a state that its code cannot go on with, and waits for other code. */
export type AgentStatus = 'starting' | 'running' | 'restarting' | 'parked' | 'stopped' | 'failed';

/**
 * One line of `orrery agents`. `waiting` counts envelopes in the mailbox; `pid` is the number of the process that runs the
 * agent's code, if it has one of its own, whose `place` is then `process-<pid>`; `threadId` is that of its worker thread.
 * `retryAtMs` is when one that has failed is tried again, Unix milliseconds. `parked` says why its code, `to`, cannot go on with its state, `from`; without `to` that keeps none.
 * `actors` are those that the runtime has for it, where they were asked for and it has some.
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
  readonly restarts: number;
  readonly lastError?: string;
  readonly retryAtMs?: number;
  readonly actors?: readonly ActorRow[];
  readonly parked?: { readonly reason: string; readonly from: StateIdentity; readonly to?: StateIdentity };
}

/**
 * An actor that the runtime has for an agent, such as its negotiator: its state machine, the state of that, and its children. An
 * actor that is over is left out.
 */
export interface ActorRow {
  readonly id: string;
  readonly machine: string;
  readonly state: string;
  readonly children?: readonly ActorRow[];
}

/** `actors`: each row lists the actors of its agent. The threads are asked; one that does not answer lists none. @default false */
export const RosterOptions = z.strictObject({ actors: z.boolean().default(false) });
export type RosterOptions = Readonly<z.input<typeof RosterOptions>>;
