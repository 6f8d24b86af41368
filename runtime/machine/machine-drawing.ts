import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { DrawnState, DrawnTransition, MachineDrawing } from '../protocol/machine-drawing.ts';
import {
  beginningsOf,
  childrenOf,
  eventOf,
  guardName,
  type Transition,
  transitionsOf,
} from './draw-machine.ts';

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
