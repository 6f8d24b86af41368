import { type AnyMachineSnapshot, type EventObject, getNextTransitions, type StateValue } from 'xstate';

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
