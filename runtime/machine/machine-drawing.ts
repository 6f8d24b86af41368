import type { AnyStateMachine, AnyStateNode } from 'xstate';
import {
  beginningsOf,
  childrenOf,
  eventOf,
  guardName,
  type Transition,
  transitionsOf,
} from './draw-machine.ts';

/**
 * A state of a drawing.
 *
 * - `id`     its dotted path, as in the names of states: `pending.open`.
 * - `parent` the id of the state that it is in, unless it is a state of the machine itself.
 */
export interface DrawnState {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly initial?: string;
  readonly description?: string;
}

/**
 * A transition of a drawing, in the words of `drawMachine`.
 *
 * - `from`    the id of a state; '' is the machine itself, which takes the event in any state.
 * - `to`      where it leads; the same as `from` if the state is not left.
 * - `delayed` the machine sends the event to itself after some time.
 */
export interface DrawnTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly guard?: string;
  readonly delayed?: boolean;
}

/**
 * The definition of a machine as data that JSON carries.
 *
 * - `agentId` of the agent whose own machine it is.
 * - `initial` the names of the states it begins in, as in the state of an actor's row.
 */
export interface MachineDrawing {
  readonly id: string;
  readonly agentId?: string;
  readonly initial: string;
  readonly states: readonly DrawnState[];
  readonly transitions: readonly DrawnTransition[];
}

/** What a drawing of the machine needs, read off its definition alone: nothing of it is run. */
export function drawingOf(machine: AnyStateMachine): MachineDrawing {
  const nodes = [...below(machine.root)];
  const delayed = delayedEventsOf(machine);
  return {
    id: machine.id,
    initial: beginningsOf(machine.root).map(idOf).join(' '),
    states: nodes.map(stateOf),
    transitions: [machine.root, ...nodes].flatMap((node) =>
      transitionsOf(node).flatMap((transition) => drawn(node, transition, delayed)),
    ),
  };
}

function* below(node: AnyStateNode): Generator<AnyStateNode> {
  for (const child of childrenOf(node)) {
    yield child;
    yield* below(child);
  }
}

const idOf = (node: AnyStateNode): string => node.path.join('.');

function stateOf(node: AnyStateNode): DrawnState {
  const parent = node.path.slice(0, -1).join('.');
  const initial = node.config.initial === undefined ? undefined : node.initial.target?.[0];
  return {
    id: idOf(node),
    name: node.key,
    ...(parent === '' ? {} : { parent }),
    type: node.type,
    ...(initial === undefined ? {} : { initial: idOf(initial as AnyStateNode) }),
    ...(node.description === undefined ? {} : { description: node.description }),
  };
}

function drawn(node: AnyStateNode, transition: Transition, delayed: ReadonlySet<string>): DrawnTransition[] {
  const { eventType, guard } = transition;
  const isDelayed = delayed.has(eventType) || node.after.some((one) => one.eventType === eventType);
  const targets = (transition.target ?? [node]) as readonly AnyStateNode[];
  return targets.map((target) => ({
    from: idOf(node),
    to: idOf(target),
    event: eventOf(node, eventType),
    ...(guard === undefined ? {} : { guard: guardName(guard) }),
    ...(isDelayed ? { delayed: true } : {}),
  }));
}

/** XState's `raise` as it stands among a machine's actions. */
interface RaiseAction {
  readonly type?: string;
  readonly event?: unknown;
  readonly delay?: unknown;
}

/** The events that a named action of the machine raises after a delay. */
function delayedEventsOf(machine: AnyStateMachine): ReadonlySet<string> {
  const actions = Object.values(machine.implementations.actions) as readonly (RaiseAction | undefined)[];
  return new Set(
    actions.flatMap((action) => {
      if (action?.type !== 'xstate.raise' || action.delay === undefined) return [];
      const type = (action.event as { readonly type?: unknown } | undefined)?.type;
      return typeof type === 'string' ? [type] : [];
    }),
  );
}
