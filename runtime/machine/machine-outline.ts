import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** What a host has to know of a machine before it runs it; read off the machine, nothing is run for it. */
export interface MachineOutline {
  /** The names of the actions that somebody has to do for it. */
  readonly effects: ReadonlySet<string>;
  /** It sends itself events that are delayed. */
  readonly isTimed: boolean;
  /** Nothing that it does changes its context. */
  readonly isConstant: boolean;
  /** What it asks for that no host does: `invoke`, `history`, `xstate.sendTo`, ... */
  readonly foreign: readonly string[];
}

/** XState's own actions that change the context, or may: `enqueueActions` may enqueue an `assign`. */
const CHANGING: ReadonlySet<string> = new Set(['xstate.assign', 'xstate.enqueueActions']);
const HOSTED: ReadonlySet<string> = new Set([...CHANGING, 'xstate.raise', 'xstate.cancel']);

/** An action as a machine has it: a name, a name with parameters, or a function, which XState's own are too. */
type WrittenAction = string | { readonly type: string } | BuiltIn;
type BuiltIn = ((...args: never[]) => unknown) & {
  readonly type?: string;
  readonly resolve?: unknown;
  readonly delay?: unknown;
};

const outlines = new WeakMap<AnyStateMachine, MachineOutline>();

export function outlineOf(machine: AnyStateMachine): MachineOutline {
  const known = outlines.get(machine);
  if (known !== undefined) return known;
  const outline = readOutline(machine);
  outlines.set(machine, outline);
  return outline;
}

function readOutline(machine: AnyStateMachine): MachineOutline {
  const effects = new Set<string>();
  const builtIns: BuiltIn[] = [];
  const foreign: string[] = [];
  for (const node of nodesOf(machine.root)) {
    if (node.invoke.length > 0) foreign.push(`invoke of "${node.invoke[0]?.id}"`);
    if (node.type === 'history') foreign.push(`history "${node.id}"`);
    for (const action of actionsOf(node)) {
      const name = nameOf(action);
      const done = typeof action === 'function' ? action : implementationOf(machine, name);
      if (done?.resolve === undefined) effects.add(name);
      else builtIns.push(done);
    }
  }
  const types = builtIns.map(({ type = '' }) => type);
  return {
    effects,
    isTimed: builtIns.some(({ type, delay }) => type === 'xstate.raise' && delay !== undefined),
    isConstant: !types.some((type) => CHANGING.has(type)),
    foreign: [...foreign, ...types.filter((type) => !HOSTED.has(type))],
  };
}

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesOf(child as AnyStateNode);
}

function* actionsOf({ entry, exit, transitions, always, initial }: AnyStateNode): Generator<WrittenAction> {
  yield* entry as WrittenAction[];
  yield* exit as WrittenAction[];
  for (const list of transitions.values())
    for (const { actions } of list) yield* actions as readonly WrittenAction[];
  for (const { actions } of always ?? []) yield* actions as readonly WrittenAction[];
  yield* (initial?.actions ?? []) as readonly WrittenAction[];
}

function nameOf(action: WrittenAction): string {
  if (typeof action === 'string') return action;
  return typeof action === 'function' ? action.name || '(anonymous)' : action.type;
}

const implementationOf = (machine: AnyStateMachine, name: string): BuiltIn | undefined =>
  (machine.implementations.actions as Readonly<Record<string, BuiltIn | undefined>>)[name];
