import type { MachineFacts, NextTimer } from './system-event.ts';

/**
 * A step of a machine, as data.
 *
 * - `machine`      the id of its definition, `actorId` which one of these it is.
 * - `from`, `to`   states as text: `pending.open`; of parallel ones `a.b c.d`.
 * - `failedGuards` kept the event from other transitions.
 */
export interface WatchedStep {
  readonly machine: string;
  readonly actorId: string;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly failedGuards?: readonly string[];
  readonly nextTimer?: NextTimer;
  readonly facts?: MachineFacts;
}

/** Whoever watches the machines of one agent, or of a thread. While nobody does, a step costs one look at `isOn`. */
export interface StepWatch {
  isOn(): boolean;
  /** Calls `listener` when `isOn` may be another, until the returned function is called. */
  onChange?(listener: () => void): () => void;
  tell(step: WatchedStep): void;
}
