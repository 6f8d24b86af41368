import type { AnyStateMachine, AnyStateNode } from 'xstate';

/**
 * What a machine's states are made of, as JSON: states, transitions, and the names of guards, actions, delays and actors. A
 * function stands there by its name, whatever it does. Of a context that is given as an object its shape.
 */
export function structureOf(machine: AnyStateMachine): unknown {
  const { id, root, config } = machine;
  return { id, root: nodeOf(root), context: shapeOf((config as { context?: unknown }).context) };
}

function nodeOf(node: AnyStateNode): unknown {
  return {
    id: node.id,
    type: node.type,
    history: node.history,
    initial: node.config.initial === undefined ? undefined : node.initial.target?.map(({ id }) => id),
    tags: [...node.tags].sort(),
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    on: [...node.transitions.values()].flat().map(transitionOf),
    always: node.always?.map(transitionOf),
    invoke: node.invoke.map(({ id, src }) => [id, nameOf(src)]),
    states: Object.fromEntries(Object.entries(node.states).map(([key, child]) => [key, nodeOf(child)])),
  };
}

interface Transition {
  readonly eventType: string;
  readonly target?: readonly { readonly id: string }[] | undefined;
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
  readonly reenter: boolean;
}

const transitionOf = ({ eventType, target, guard, actions, reenter }: Transition): unknown => ({
  event: eventType,
  target: target?.map(({ id }) => id),
  guard: guard === undefined ? undefined : nameOf(guard),
  actions: actions.map(nameOf),
  reenter,
});

/** Fields of XState's own actions and guards, beside their type. */
interface Named {
  readonly type?: unknown;
  readonly name?: string;
  readonly params?: unknown;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
  readonly event?: unknown;
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly assignment?: unknown;
}

/** An action, guard or actor by its name. */
function nameOf(named: unknown): unknown {
  if (typeof named !== 'function' && (typeof named !== 'object' || named === null)) return named;
  const { type, name, params, guards, stateValue, event, id, delay, assignment } = named as Named;
  return {
    name: typeof type === 'string' ? type : (name ?? 'logic'),
    params: plain(params),
    guards: guards?.map(nameOf),
    stateValue,
    event: plain(event),
    id: plain(id),
    delay: plain(delay),
    assigns:
      typeof assignment === 'object' && assignment !== null ? Object.keys(assignment).sort() : undefined,
  };
}

function plain(value: unknown): unknown {
  if (typeof value === 'function') return { name: value.name };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
}

/** The names and types of a value's fields: their values make no difference. */
function shapeOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return 'array';
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shapeOf(field)]));
}
