import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventFrom,
  EventObject,
  InputFrom,
  SnapshotFrom,
  StateValue,
} from 'xstate';
import { invalidOptions } from '../protocol/errors.ts';
import type { ActorRow } from '../protocol/roster.ts';
import type { Clock } from '../protocol/seams.ts';
import type { MachineFacts, NextTimer } from '../protocol/system-event.ts';
import { type MachineSteps, type StepAction, stepsOf } from './machine-steps.ts';
import type { StepWatch, WatchedStep } from '../protocol/step-watch.ts';
import { failedGuards, nameOfState } from './state-names.ts';

/** What an action finds: the event that led to it, and the context at its place in the step. */
export interface ActionArgs<Machine extends AnyStateMachine> {
  readonly context: ContextFrom<Machine>;
  readonly event: EventFrom<Machine>;
  readonly params: unknown;
}

type ActionName<Machine extends AnyStateMachine> = keyof NonNullable<
  Parameters<Machine['provide']>[0]['actions']
>;

/** What a machine's named actions do. */
export type MachineActions<Machine extends AnyStateMachine> = {
  readonly [Name in ActionName<Machine>]?: (args: ActionArgs<Machine>) => void;
};

/** A delayed event that is to come: at `atMs`, Unix milliseconds, which is `delayMs` after it was set. */
export interface PersistedTimer {
  readonly id: string;
  readonly event: { readonly type: string };
  readonly atMs: number;
  readonly delayMs: number;
}

/** Where a machine stands, as data: a host, also of another thread or process, goes on from it. */
export interface PersistedMachine {
  readonly value: StateValue;
  readonly context: object;
  readonly timers: readonly PersistedTimer[];
}

/** A step that was made. */
export interface ObservedStep<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly id: string;
  readonly event: EventFrom<Machine>;
  readonly from: SnapshotFrom<Machine>;
  readonly to: SnapshotFrom<Machine>;
}

/**
 * - `id`      what observers know it by. @default the machine's
 * - `clock`   of the delayed events of a machine that has such.
 * - `actions` every action of the machine that is not XState's own.
 * - `watch`   is told of every step while it is on, and with it the `facts` that an operator wants to know of the machine.
 */
export interface MachineHostDeps<Machine extends AnyStateMachine> {
  readonly id?: string;
  readonly clock?: Pick<Clock, 'now' | 'setTimer'>;
  readonly actions?: MachineActions<Machine>;
  readonly watch?: StepWatch | undefined;
  readonly facts?: (context: ContextFrom<Machine>) => MachineFacts;
}

/** What a host begins with: what the machine is given, or where another host left it. */
export type MachineBeginning<Machine extends AnyStateMachine> =
  | { readonly input?: InputFrom<Machine>; readonly persisted?: undefined }
  | { readonly persisted: PersistedMachine };

/**
 * Runs one machine: it holds the snapshot, makes pure steps, and does what they ask for.
 *
 * An event is taken to its end before the next one: what an action sends waits until the actions of its step are done.
 * Delayed events go by the injected clock, at most one of an id. An action that throws ends the actions of its step, as
 * SCXML has it: the machine has moved all the same, its delays are set, what waits is taken, and then the first error
 * reaches whoever sent the event. Events for a machine that is over or stopped are dropped.
 *
 * Machines with children are hosts that hold hosts: none that invokes or spawns is run here. Only agents' own logic may,
 * which XState's actors run (`LogicRunner`).
 *
 * Fails with INVALID_OPTIONS for an action that is missing, a clock that is, or a machine that asks for more.
 */
export class MachineHost<Machine extends AnyStateMachine> {
  readonly #steps: MachineSteps;
  readonly #deps: MachineHostDeps<Machine>;
  #snapshot: AnyMachineSnapshot;
  /** What it begins with, until `start`. */
  #first: First | undefined;
  #timers: Map<string, Timer> | undefined;
  #queue: EventObject[] | undefined;
  #observers: Set<(step: ObservedStep<Machine>) => void> | undefined;
  #mode: 'idle' | 'busy' | 'stopped';

  constructor(
    machine: Machine,
    deps: MachineHostDeps<Machine>,
    ...[beginning]: undefined extends InputFrom<Machine>
      ? [beginning?: MachineBeginning<Machine>]
      : [beginning: MachineBeginning<Machine>]
  ) {
    const steps = stepsOf(machine);
    requireDeps(steps, deps);
    this.#steps = steps;
    this.#deps = deps;
    if (beginning?.persisted !== undefined) {
      const { value, context, timers } = beginning.persisted;
      this.#snapshot = steps.at(value, context);
      this.#first = timers.length > 0 ? { actions: [], timers } : undefined;
    } else {
      const { snapshot, actions } = steps.begin(beginning?.input);
      this.#snapshot = snapshot;
      this.#first = actions.length > 0 ? { actions, timers: [] } : undefined;
    }
    // Whoever has nothing to begin with need not be started.
    this.#mode = this.#first === undefined ? 'idle' : 'busy';
  }

  get id(): string {
    return this.#deps.id ?? this.#steps.machine.id;
  }

  get value(): SnapshotFrom<Machine>['value'] {
    return this.#snapshot.value;
  }

  /** The state as text: `pending.open`; of parallel ones `a.b c.d`. */
  get stateName(): string {
    return nameOfState(this.#snapshot.value);
  }

  get context(): ContextFrom<Machine> {
    return this.#snapshot.context as ContextFrom<Machine>;
  }

  get tags(): ReadonlySet<string> {
    return this.#snapshot.tags;
  }

  /** It has come to a final state. */
  get isOver(): boolean {
    return this.#snapshot.status !== 'active';
  }

  hasTag(tag: Parameters<SnapshotFrom<Machine>['hasTag']>[0]): boolean {
    return this.#snapshot.hasTag(tag as never);
  }

  matches(value: Parameters<SnapshotFrom<Machine>['matches']>[0]): boolean {
    return this.#snapshot.matches(value as never);
  }

  /** Says whether the machine listens to the event where it stands. */
  can(event: EventFrom<Machine>): boolean {
    return !this.isOver && this.#steps.can(this.#snapshot, event);
  }

  /**
   * Does what the machine begins with; until then, events wait. One that goes on has the time that was left: what has
   * become due meanwhile happens at once, in the order in which it was due.
   */
  start(): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    const failure = this.#perform(first.actions) ?? this.#goOn(first.timers);
    this.#finish(failure);
  }

  send(event: EventFrom<Machine>): void {
    if (this.#mode === 'busy') {
      this.#queue ??= [];
      this.#queue.push(event);
      return;
    }
    if (this.#mode === 'stopped') return;
    this.#mode = 'busy';
    this.#finish(this.#take(event));
  }

  /** Tells of every event that is taken from now on, or refused, when all that it led to is done. */
  observe(observer: (step: ObservedStep<Machine>) => void): () => void {
    this.#observers ??= new Set();
    this.#observers.add(observer);
    return () => void this.#observers?.delete(observer);
  }

  /** Of the delayed events that are to come the next one. */
  get nextTimer(): NextTimer | undefined {
    let next: PersistedTimer | undefined;
    for (const { due } of this.#timers?.values() ?? [])
      if (next === undefined || due.atMs < next.atMs) next = due;
    return next && { event: next.event.type, atMs: next.atMs };
  }

  /** What an operator wants to know of it. */
  get facts(): MachineFacts | undefined {
    return this.#deps.facts?.(this.context);
  }

  /** As a line of the roster, under this id. @default its own */
  row(id = this.id): ActorRow {
    const { nextTimer, facts } = this;
    return {
      id,
      machine: this.#steps.machine.id,
      state: this.stateName,
      ...(nextTimer === undefined ? {} : { nextTimer }),
      ...(facts === undefined ? {} : { facts }),
    };
  }

  /** As it is now. */
  persist(): PersistedMachine {
    const { value, context } = this.#snapshot;
    const timers = this.#first?.timers ?? [...(this.#timers?.values() ?? [])].map(({ due }) => due);
    return { value, context, timers };
  }

  /** Nothing happens any more; what was to come is forgotten. */
  stop(): void {
    this.#mode = 'stopped';
    this.#first = undefined;
    this.#queue = undefined;
    this.#forgetTimers();
  }

  /** Takes what has been sent meanwhile; throws the first error of all that was done. */
  #finish(failure: Failure | undefined): void {
    const later = this.#drain();
    if (this.#mode === 'busy') this.#mode = 'idle';
    const first = failure ?? later;
    if (first !== undefined) throw first.error;
  }

  #drain(): Failure | undefined {
    let failure: Failure | undefined;
    for (let next = this.#queue?.shift(); next !== undefined; next = this.#queue?.shift()) {
      const failed = this.#take(next);
      failure ??= failed;
    }
    return failure;
  }

  #take(event: EventObject): Failure | undefined {
    if (this.isOver || this.#mode === 'stopped') return undefined;
    const from = this.#snapshot;
    let failure: Failure | undefined;
    try {
      const { snapshot, actions } = this.#steps.step(from, event);
      this.#snapshot = snapshot;
      failure = this.#perform(actions);
    } catch (error) {
      failure = { error };
    }
    if (this.isOver) this.#forgetTimers();
    if (this.#deps.watch?.isOn() === true) this.#deps.watch.tell(this.#watched(from, event));
    if (this.#observers === undefined) return failure;
    const told = this.#tell(from, event);
    return failure ?? told;
  }

  /** Delays are set and cancelled whatever fails. */
  #perform(actions: readonly StepAction[]): Failure | undefined {
    let failure: Failure | undefined;
    for (const { type, params, info } of actions) {
      if (type === 'xstate.raise') this.#arm(params as DelayedEvent);
      else if (type === 'xstate.cancel') this.#cancel((params as { readonly sendId: string }).sendId);
      else if (failure === undefined) {
        try {
          this.#do(type, params, info);
        } catch (error) {
          failure = { error };
        }
      }
    }
    return failure;
  }

  #do(type: string, params: unknown, { context, event }: StepAction['info']): void {
    const act = (this.#deps.actions as ActionsByName<Machine> | undefined)?.[type];
    if (act === undefined) throw actionMissing(this.#steps.machine, [type]);
    act({ context, event, params } as ActionArgs<Machine>);
  }

  #tell(from: AnyMachineSnapshot, event: EventObject): Failure | undefined {
    const { id } = this;
    const step = { id, event, from, to: this.#snapshot };
    let failure: Failure | undefined;
    for (const observer of this.#observers ?? []) {
      try {
        observer(step as unknown as ObservedStep<Machine>);
      } catch (error) {
        failure ??= { error };
      }
    }
    return failure;
  }

  #watched(from: AnyMachineSnapshot, event: EventObject): WatchedStep {
    const failed = failedGuards(from, event);
    const { nextTimer, facts } = this;
    return {
      machine: this.#steps.machine.id,
      actorId: this.id,
      event: event.type,
      from: nameOfState(from.value),
      to: this.stateName,
      ...(failed.length === 0 ? {} : { failedGuards: failed }),
      ...(nextTimer === undefined ? {} : { nextTimer }),
      ...(facts === undefined ? {} : { facts }),
    };
  }

  // Delayed events

  /** One without a delay is part of the step. */
  #arm({ id, delay: delayMs, event }: DelayedEvent): void {
    if (delayMs === undefined || this.#mode === 'stopped' || this.isOver) return;
    const ownId = id ?? this.#freeId(event.type);
    this.#cancel(ownId);
    const { clock } = this.#deps;
    // It was looked for at the beginning.
    if (clock !== undefined) this.#set({ id: ownId, event, atMs: clock.now() + delayMs, delayMs }, delayMs);
  }

  #freeId(type: string): string {
    let number = 0;
    while (this.#timers?.has(`${type}.${number}`) === true) number += 1;
    return `${type}.${number}`;
  }

  #set(due: PersistedTimer, leftMs: number): void {
    const fire = (): void => {
      this.#timers?.delete(due.id);
      this.send(due.event as EventFrom<Machine>);
    };
    this.#keep(due, this.#deps.clock?.setTimer(leftMs, fire) ?? (() => undefined));
  }

  #keep(due: PersistedTimer, cancel: () => void): void {
    this.#timers ??= new Map();
    this.#timers.set(due.id, { due, cancel });
  }

  #cancel(id: string): void {
    this.#timers?.get(id)?.cancel();
    this.#timers?.delete(id);
  }

  #forgetTimers(): void {
    for (const { cancel } of this.#timers?.values() ?? []) cancel();
    this.#timers = undefined;
  }

  #goOn(left: readonly PersistedTimer[]): Failure | undefined {
    const { clock } = this.#deps;
    // It was looked for at the beginning.
    if (clock === undefined) return undefined;
    const nowMs = clock.now();
    const inOrder = left.toSorted((one, other) => one.atMs - other.atMs);
    for (const due of inOrder) {
      // A clock that was set back prolongs nothing beyond the whole.
      if (due.atMs > nowMs) this.#set(due, Math.min(due.delayMs, due.atMs - nowMs));
      else this.#keep(due, () => undefined);
    }
    let failure: Failure | undefined;
    for (const due of inOrder) {
      // An event before it may have cancelled it.
      if (due.atMs > nowMs || this.#timers?.get(due.id)?.due !== due) continue;
      this.#timers.delete(due.id);
      const failed = this.#take(due.event) ?? this.#drain();
      failure ??= failed;
    }
    return failure;
  }
}

/** What begins a machine that is not started yet. */
interface First {
  readonly actions: readonly StepAction[];
  readonly timers: readonly PersistedTimer[];
}

interface Failure {
  readonly error: unknown;
}

interface Timer {
  readonly due: PersistedTimer;
  readonly cancel: () => void;
}

interface DelayedEvent {
  readonly id: string | undefined;
  readonly delay: number | undefined;
  readonly event: EventObject;
}

type ActionsByName<Machine extends AnyStateMachine> = Readonly<
  Record<string, ((args: ActionArgs<Machine>) => void) | undefined>
>;

function requireDeps<Machine extends AnyStateMachine>(
  { machine, outline }: MachineSteps,
  deps: MachineHostDeps<Machine>,
): void {
  const { effects, isTimed } = outline;
  if (effects.size > 0) {
    const actions = deps.actions as ActionsByName<Machine> | undefined;
    const missing = [...effects].filter((name) => actions?.[name] === undefined);
    if (missing.length > 0) throw actionMissing(machine, missing);
  }
  if (isTimed && deps.clock === undefined)
    throw invalidOptions('clock', undefined, `one for the delayed events of the machine "${machine.id}"`);
}

const actionMissing = (machine: AnyStateMachine, names: readonly string[]) =>
  invalidOptions('actions', undefined, `what "${names.join('", "')}" of the machine "${machine.id}" does`);
