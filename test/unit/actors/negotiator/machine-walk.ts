import { type AnyStateMachine, type AnyTransitionDefinition, initialTransition, transition } from 'xstate';

/** One of a machine's named actions, as a step asks for it. */
export interface Act {
  readonly type: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly event: Readonly<Record<string, unknown>>;
}

/** Where a machine stands: `key` says all of it, the timers that are set included. */
export interface MachineState {
  readonly key: string;
  readonly value: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly isDone: boolean;
  readonly snapshot: unknown;
  /** The event of each timer that is set, by its id. */
  readonly armed: ReadonlyMap<string, { readonly type: string }>;
}

export interface Step {
  readonly state: MachineState;
  readonly acts: readonly Act[];
}

interface Action {
  readonly type: string;
  readonly params: {
    readonly id?: string;
    readonly sendId?: string;
    readonly event?: { readonly type: string };
  };
  readonly info: { readonly context: Act['context']; readonly event: Act['event'] };
}

interface StateNode {
  readonly id: string;
  readonly transitions: ReadonlyMap<string, readonly AnyTransitionDefinition[]>;
}

interface WalkedMachine {
  readonly idMap: ReadonlyMap<string, StateNode>;
  getTransitionData(snapshot: unknown, event: unknown): AnyTransitionDefinition[];
}

/** Steps a machine as it is, remembers every step, and which of its transitions have been taken. */
export class MachineWalk {
  readonly taken = new Set<AnyTransitionDefinition>();
  readonly #machine: AnyStateMachine;
  readonly #steps = new Map<string, Step>();
  readonly #states = new Map<string, MachineState>();

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
  }

  /** What the published types leave out. */
  get #walked(): WalkedMachine {
    return this.#machine as unknown as WalkedMachine;
  }

  begin(input: unknown): Step {
    const [snapshot, actions] = initialTransition(this.#machine, input as never);
    return this.#stepOf(snapshot, actions as unknown as Action[], new Map());
  }

  /** The step that `event` leads to; a timer that fires is set no more. */
  step(state: MachineState, event: { readonly type: string }, fired?: string): Step {
    const key = `${state.key} ${fired ?? ''} ${JSON.stringify(event)}`;
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    for (const one of this.#walked.getTransitionData(state.snapshot, event)) this.taken.add(one);
    const [snapshot, actions] = transition(this.#machine, state.snapshot as never, event as never);
    const armed = new Map(state.armed);
    if (fired !== undefined) armed.delete(fired);
    const step = this.#stepOf(snapshot, actions as unknown as Action[], armed);
    this.#steps.set(key, step);
    return step;
  }

  /** Every transition that the machine has, as `state: event [guard]`. */
  transitions(): Map<AnyTransitionDefinition, string> {
    const all = new Map<AnyTransitionDefinition, string>();
    for (const node of this.#walked.idMap.values()) {
      for (const [event, list] of node.transitions) {
        for (const one of list) all.set(one, `${node.id}: ${event} [${String(one.guard ?? 'else')}]`);
      }
    }
    return all;
  }

  #stepOf(
    snapshot: unknown,
    actions: readonly Action[],
    armed: Map<string, { readonly type: string }>,
  ): Step {
    const acts: Act[] = [];
    for (const { type, params, info } of actions) {
      if (type === 'xstate.raise') armed.set(params.id as string, params.event as { type: string });
      else if (type === 'xstate.cancel') armed.delete(params.sendId as string);
      else acts.push({ type, context: info.context, event: info.event });
    }
    return { state: this.#stateOf(snapshot, armed), acts };
  }

  #stateOf(snapshot: unknown, armed: ReadonlyMap<string, { readonly type: string }>): MachineState {
    const { value, context, status } = snapshot as {
      value: unknown;
      context: MachineState['context'];
      status: string;
    };
    const name = typeof value === 'string' ? value : (Object.values(value as object)[0] as string);
    // A reason is said and decides nothing.
    const facts = JSON.stringify({ ...context, reason: undefined });
    const key = `${name} ${facts} ${[...armed.keys()].sort().join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = { key, value: name, context, isDone: status === 'done', snapshot, armed };
    this.#states.set(key, state);
    return state;
  }
}
