import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
} from 'xstate';
import { invalidOptions } from '../protocol/errors.ts';
import { type MachineOutline, outlineOf } from './machine-outline.ts';

/** Something that a step asks for; `info` is what it finds. */
export interface StepAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly context: unknown; readonly event: EventObject };
}

/** Where an event leads, and what is to be done on the way, in this order. */
export interface MachineStep {
  readonly snapshot: AnyMachineSnapshot;
  readonly actions: readonly StepAction[];
}

/** `isTaken`: the machine listens to the event. */
interface SharedStep extends MachineStep {
  readonly isTaken: boolean;
}

/** So many states of one machine are shared; whatever comes beyond is each host's own. */
const MAX_SHARED = 256;

const allSteps = new WeakMap<AnyStateMachine, MachineSteps>();

/** The steps of a machine, which all its hosts have in common. */
export function stepsOf(machine: AnyStateMachine): MachineSteps {
  const known = allSteps.get(machine);
  if (known !== undefined) return known;
  const steps = new MachineSteps(machine);
  allSteps.set(machine, steps);
  return steps;
}

/**
 * The pure steps of one machine: nothing is done here, and nothing but context, event and state decides.
 *
 * They are XState's, as `transition` gives them. That makes an actor and its system for every step, which took 15 us
 * where `actor.send` took 4.2; one that is never started serves all steps of a machine, at 4.5 us.
 *
 * A machine that assigns nothing, and whose context has plain values or none, can only be in a few states. These are
 * shared by its hosts, and the steps between them remembered: a hundred thousand agents begin and start with two look-ups
 * each. So guards must be functions of what they are given.
 */
export class MachineSteps {
  readonly machine: AnyStateMachine;
  readonly outline: MachineOutline;
  readonly #scope: AnyActorScope;
  readonly #beginnings = new Map<string, MachineStep>();
  /** What is shared, by context and value, and what leads on from there. */
  readonly #shared = new Map<string, AnyMachineSnapshot>();
  readonly #steps = new Map<AnyMachineSnapshot, Map<string, SharedStep>>();
  #actions: StepAction[] = [];

  constructor(machine: AnyStateMachine) {
    const outline = outlineOf(machine);
    const { foreign } = outline;
    if (foreign.length > 0)
      throw invalidOptions(
        'machine',
        machine.id,
        `a machine without ${foreign.join(', ')}: nobody hosts that`,
      );
    this.machine = machine;
    this.outline = outline;
    const self = createActor(machine);
    this.#scope = {
      self,
      id: self.id,
      sessionId: self.sessionId,
      system: self.system,
      logger: () => undefined,
      defer: () => undefined,
      emit: () => undefined,
      stopChild: () => undefined,
      actionExecutor: (action) => void this.#actions.push(action as unknown as StepAction),
    };
  }

  /** How the machine begins. Throws what its context throws over the input. */
  begin(input: unknown): MachineStep {
    const key = this.outline.isConstant ? plainText(input) : undefined;
    if (key === undefined) return this.#begun(input);
    const known = this.#beginnings.get(key);
    if (known !== undefined) return known;
    const step = this.#begun(input);
    const snapshot = this.#share(step.snapshot);
    const shared = { ...step, snapshot };
    if (this.#steps.has(snapshot)) this.#beginnings.set(key, shared);
    return shared;
  }

  /** The machine in this state, without anything that leads there. Throws for a value that it does not have. */
  at(value: unknown, context: unknown): AnyMachineSnapshot {
    return this.#share(this.machine.resolveState({ value, context } as never) as AnyMachineSnapshot);
  }

  /** Says whether the machine listens to the event. */
  can(snapshot: AnyMachineSnapshot, event: EventObject): boolean {
    return this.#remembered(snapshot, event)?.isTaken ?? snapshot.can(event);
  }

  /** The step that the event leads to: to the same state, without actions, if the machine does not listen to it. */
  step(snapshot: AnyMachineSnapshot, event: EventObject): MachineStep {
    return this.#remembered(snapshot, event) ?? this.#stepped(snapshot, event);
  }

  #remembered(snapshot: AnyMachineSnapshot, event: EventObject): SharedStep | undefined {
    const steps = this.#steps.get(snapshot);
    if (steps === undefined || !isBare(event)) return undefined;
    const known = steps.get(event.type);
    if (known !== undefined) return known;
    const { snapshot: next, actions } = this.#stepped(snapshot, event);
    const step = { snapshot: this.#share(next), actions, isTaken: snapshot.can(event) };
    // Whoever sends events of any name fills no memory: those that lead nowhere are not remembered.
    if (step.isTaken) steps.set(event.type, step);
    return step;
  }

  /** The one snapshot of this state, if it is among the few. */
  #share(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    const context = this.outline.isConstant ? plainText(snapshot.context) : undefined;
    if (context === undefined) return snapshot;
    const key = `${JSON.stringify(snapshot.value)} ${context}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    if (this.#shared.size === MAX_SHARED) return snapshot;
    this.#shared.set(key, snapshot);
    this.#steps.set(snapshot, new Map());
    return snapshot;
  }

  #begun(input: unknown): MachineStep {
    const step = this.#collected(() => this.machine.getInitialSnapshot(this.#scope, input as never));
    const { status, error } = step.snapshot;
    if (status === 'error') throw error;
    return step;
  }

  #stepped(snapshot: AnyMachineSnapshot, event: EventObject): MachineStep {
    return this.#collected(() => this.machine.transition(snapshot, event, this.#scope) as AnyMachineSnapshot);
  }

  #collected(run: () => AnyMachineSnapshot): MachineStep {
    const outer = this.#actions;
    const actions: StepAction[] = [];
    this.#actions = actions;
    try {
      return { snapshot: run(), actions };
    } finally {
      this.#actions = outer;
    }
  }
}

/** It says nothing but its name. */
function isBare(event: EventObject): boolean {
  for (const key in event) if (key !== 'type') return false;
  return true;
}

/** Values that are the same have the same text; undefined for what has values that are no texts, numbers or flags. */
function plainText(value: unknown): string | undefined {
  if (value === undefined) return '';
  if (typeof value !== 'object' || value === null) return undefined;
  let text = '';
  for (const [key, part] of Object.entries(value)) {
    if (typeof part !== 'string' && typeof part !== 'number' && typeof part !== 'boolean') return undefined;
    text += `${JSON.stringify(key)}:${typeof part === 'string' ? JSON.stringify(part) : String(part)},`;
  }
  return text;
}
