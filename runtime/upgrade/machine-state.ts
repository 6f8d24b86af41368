import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { z } from 'zod';
import { faultsOf } from '../protocol/payload-faults.ts';

/** A delayed event that is still to come. `delayMs` is what is left of the delay. */
export const StateTimer = z.strictObject({
  id: z.string(),
  event: z.looseObject({ type: z.string() }),
  delayMs: z.number().nonnegative(),
});
export type StateTimer = z.infer<typeof StateTimer>;

/** The state that is active, or by the names of those that are what is active in them. */
const ActiveStates: z.ZodType<StateValue> = z.union([
  z.string(),
  z.record(
    z.string(),
    z.lazy(() => ActiveStates.optional()),
  ),
]);

/**
 * The state of a machine as XState persists it, and its delayed events. A migration may leave out everything but `value`;
 * without `timers` each delay of the state begins again.
 */
export const MachineState = z.looseObject({
  value: ActiveStates,
  context: z.record(z.string(), z.unknown()).default({}),
  status: z.literal('active').default('active'),
  children: z.record(z.string(), z.unknown()).default({}),
  historyValue: z.record(z.string(), z.unknown()).default({}),
  timers: z.array(StateTimer).optional(),
});
export type MachineState = z.infer<typeof MachineState>;

/**
 * The state, with every state resolved down to the innermost. Throws, naming it, for a state that the machine does not have,
 * and for one that invokes what is not among the children: nothing would ever come of it.
 */
export function resolveMachineState(machine: AnyStateMachine, given: unknown): MachineState {
  const parsed = MachineState.safeParse(given);
  if (!parsed.success)
    throw new Error(`it is no state of a machine: ${faultsOf(parsed.error, given, 'state')}`);
  const { data } = parsed;
  const { value } = machine.resolveState({ value: data.value, context: data.context });
  for (const node of activeNodes(machine.root, value)) {
    for (const { id } of node.invoke) {
      if (data.children[id] === undefined)
        throw new Error(`the state "${node.id}" invokes "${id}", which is not among the children`);
    }
  }
  const timers = data.timers ?? delaysOf(machine, value, data.context);
  return { ...data, value, timers };
}

function* activeNodes(node: AnyStateNode, value: StateValue): Iterable<AnyStateNode> {
  yield node;
  const below = typeof value === 'string' ? { [value]: {} } : value;
  for (const [key, inner] of Object.entries(below)) {
    const child = node.states[key];
    if (child !== undefined) yield* activeNodes(child, inner ?? {});
  }
}

/** The delays of the states that it is in, as on entering them. */
function delaysOf(
  machine: AnyStateMachine,
  value: StateValue,
  context: MachineState['context'],
): StateTimer[] {
  const timers: StateTimer[] = [];
  for (const node of activeNodes(machine.root, value)) {
    for (const { delay, eventType } of node.after) {
      if (timers.some(({ id }) => id === eventType)) continue;
      timers.push({
        id: eventType,
        event: { type: eventType },
        delayMs: millisecondsOf(machine, delay, context),
      });
    }
  }
  return timers;
}

type Delay = number | ((args: object, params: unknown) => number);

function millisecondsOf(machine: AnyStateMachine, delay: unknown, context: MachineState['context']): number {
  const delays = machine.implementations.delays as Readonly<Record<string, Delay>>;
  const named = typeof delay === 'string' ? delays[delay] : (delay as Delay);
  if (named === undefined) throw new Error(`it has no delay "${String(delay)}"`);
  return typeof named === 'function' ? named({ context, event: { type: 'xstate.init' } }, undefined) : named;
}
