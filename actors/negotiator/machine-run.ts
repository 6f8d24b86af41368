import {
  type AnyStateMachine,
  type ContextFrom,
  type EventFrom,
  initialTransition,
  type InputFrom,
  type SnapshotFrom,
  type StateValue,
  transition,
} from 'xstate';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** What a machine's named actions do: `event` led to them, `context` is what they find. */
export type Effects<Machine extends AnyStateMachine> = Readonly<
  Record<string, (event: EventFrom<Machine>, context: ContextFrom<Machine>) => void>
>;

/** A timer that is set: its event comes at `atMs`, Unix milliseconds, which is `delayMs` after it was set. */
export interface DueTimer {
  readonly id: string;
  readonly event: { readonly type: string };
  readonly atMs: number;
  readonly delayMs: number;
}

/** Where a run stands, as data: another one goes on from it. */
export interface RunStanding {
  readonly value: StateValue;
  readonly context: object;
  readonly timers: readonly DueTimer[];
}

/** What a run begins with: what its machine is given, or where a former run stood. */
export type RunBeginning<Machine extends AnyStateMachine> =
  | { readonly input: InputFrom<Machine> }
  | { readonly standing: RunStanding };

export interface MachineRunDeps<Machine extends AnyStateMachine> {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly effects: Effects<Machine>;
  /** Says whether a timer of this id is to be set. @default always */
  readonly mayArm?: (id: string) => boolean;
  /** Hears of every event that was taken, with where the machine stood before. */
  readonly onStep?: (before: SnapshotFrom<Machine>, event: EventFrom<Machine>) => void;
}

interface Action {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly context: unknown };
}

/**
 * One run of a machine as the pure steps that `transition` gives: its named actions are done by `effects`, its delayed
 * events by the injected clock. An event that an effect causes is taken when the step is over.
 */
export class MachineRun<Machine extends AnyStateMachine> {
  readonly #machine: Machine;
  readonly #deps: MachineRunDeps<Machine>;
  readonly #timers = new Map<string, Timer>();
  readonly #queue: EventFrom<Machine>[] = [];
  #snapshot: SnapshotFrom<Machine>;
  #first: readonly Action[] = [];
  #left: readonly DueTimer[] = [];
  #isBusy = false;
  #isStopped = false;

  constructor(machine: Machine, beginning: RunBeginning<Machine>, deps: MachineRunDeps<Machine>) {
    this.#machine = machine;
    this.#deps = deps;
    if ('standing' in beginning) {
      const { value, context, timers } = beginning.standing;
      this.#snapshot = machine.resolveState({ value, context } as never) as SnapshotFrom<Machine>;
      this.#left = timers;
    } else {
      const [snapshot, actions] = initialTransition(machine, beginning.input as never);
      this.#snapshot = snapshot as SnapshotFrom<Machine>;
      this.#first = actions as readonly Action[];
    }
  }

  get snapshot(): SnapshotFrom<Machine> {
    return this.#snapshot;
  }

  get isOver(): boolean {
    return (this.#snapshot as { readonly status: string }).status !== 'active';
  }

  /** As it is now; to be kept after every step. */
  get standing(): RunStanding {
    const { value, context } = this.#snapshot as { readonly value: StateValue; readonly context: object };
    return { value, context, timers: [...this.#timers.values()].map(({ due }) => due) };
  }

  /**
   * Does what the machine begins with. One that goes on has the time that was left: what has become due meanwhile happens
   * at once, in the order in which it was due.
   */
  start(): void {
    const first = this.#first;
    this.#first = [];
    this.#isBusy = true;
    for (const action of first) this.#perform(action, { type: 'xstate.init' } as EventFrom<Machine>);
    this.#isBusy = false;
    this.#goOn();
    this.#drain();
  }

  send(event: EventFrom<Machine>): void {
    this.#queue.push(event);
    if (!this.#isBusy) this.#drain();
  }

  /** Forgets every timer; nothing happens any more. */
  stop(): void {
    for (const { cancel } of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#queue.length = 0;
    this.#isStopped = true;
  }

  #drain(): void {
    this.#isBusy = true;
    try {
      for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift())
        this.#step(event);
    } finally {
      this.#isBusy = false;
    }
  }

  #step(event: EventFrom<Machine>): void {
    if (this.isOver || this.#isStopped) return;
    const before = this.#snapshot;
    const [snapshot, actions] = transition(this.#machine, before as never, event as never);
    this.#snapshot = snapshot as SnapshotFrom<Machine>;
    for (const action of actions as readonly Action[]) this.#perform(action, event);
    this.#deps.onStep?.(before, event);
  }

  #perform({ type, params, info }: Action, event: EventFrom<Machine>): void {
    if (type === 'xstate.raise') this.#arm(params as DelayedEvent<Machine>);
    else if (type === 'xstate.cancel') this.#cancel((params as { sendId: string }).sendId);
    else this.#deps.effects[type]?.(event, info.context as ContextFrom<Machine>);
  }

  #goOn(): void {
    const left = this.#left.toSorted((one, other) => one.atMs - other.atMs);
    this.#left = [];
    const nowMs = this.#deps.clock.now();
    // A clock that was set back prolongs nothing beyond the whole.
    for (const due of left) this.#set(due, Math.min(due.delayMs, due.atMs - nowMs));
    for (const due of left) {
      if (due.atMs > nowMs || this.#timers.get(due.id)?.due !== due) continue;
      this.#timers.delete(due.id);
      this.send(due.event as EventFrom<Machine>);
    }
  }

  #arm({ id, delay: delayMs, event }: DelayedEvent<Machine>): void {
    this.#cancel(id);
    if (this.#deps.mayArm?.(id) === false) return;
    this.#set({ id, event, atMs: this.#deps.clock.now() + delayMs, delayMs }, delayMs);
  }

  #set(due: DueTimer, leftMs: number): void {
    const fire = (): void => {
      this.#timers.delete(due.id);
      this.send(due.event as EventFrom<Machine>);
    };
    const cancel = leftMs > 0 ? this.#deps.clock.setTimer(leftMs, fire) : () => undefined;
    this.#timers.set(due.id, { due, cancel });
  }

  #cancel(id: string): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
  }
}

interface Timer {
  readonly due: DueTimer;
  readonly cancel: () => void;
}

interface DelayedEvent<Machine extends AnyStateMachine> {
  readonly id: string;
  readonly delay: number;
  readonly event: EventFrom<Machine> & { readonly type: string };
}
