import { type AnyMachineSnapshot, type EventObject, getNextTransitions, type StateValue } from 'xstate';
import type { MachineFacts, NextTimer } from '../protocol/system-event.ts';

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
  tell(step: WatchedStep): void;
}

/** The state as text: `pending.open`; of parallel ones `a.b c.d`. */
export const nameOfState = (value: StateValue): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value)
        .map(([name, inner]) => {
          const within = inner === undefined ? '' : nameOfState(inner);
          return within === '' ? name : `${name}.${within}`;
        })
        .join(' ');

/** Those that were asked before the one that let the event through, or all. */
export function failedGuards(from: AnyMachineSnapshot, event: EventObject): readonly string[] {
  const taken = new Set<unknown>(from.machine.getTransitionData(from, event));
  const failed: string[] = [];
  for (const transition of getNextTransitions(from)) {
    if (taken.has(transition)) break;
    if (transition.eventType === event.type && transition.guard !== undefined)
      failed.push(guardName(transition.guard as GuardWritten));
  }
  return failed;
}

type GuardWritten = string | { readonly type?: string };

const guardName = (guard: GuardWritten): string =>
  typeof guard === 'string' ? guard : (guard.type ?? '(anonymous)');
