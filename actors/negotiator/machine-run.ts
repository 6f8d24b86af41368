import {
  type AnyStateMachine,
  type ContextFrom,
  type EventFrom,
  initialTransition,
  type InputFrom,
  type SnapshotFrom,
  transition,
} from 'xstate';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** What a machine's named actions do: `event` led to them, `context` is what they find. */
export type Effects<Machine extends AnyStateMachine> = Readonly<
  Record<string, (event: EventFrom<Machine>, context: ContextFrom<Machine>) => void>
>;

export interface MachineRunDeps<Machine extends AnyStateMachine> {
  readonly clock: Pick<Clock, 'setTimer'>;
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
  readonly #timers = new Map<string, () => void>();
  readonly #queue: EventFrom<Machine>[] = [];
  #snapshot: SnapshotFrom<Machine>;
  #first: readonly Action[];
  #isBusy = false;
  #isStopped = false;

  constructor(machine: Machine, input: InputFrom<Machine>, deps: MachineRunDeps<Machine>) {
    this.#machine = machine;
    this.#deps = deps;
    const [snapshot, actions] = initialTransition(machine, input as never);
    this.#snapshot = snapshot as SnapshotFrom<Machine>;
    this.#first = actions as readonly Action[];
  }

  get snapshot(): SnapshotFrom<Machine> {
    return this.#snapshot;
  }

  get isOver(): boolean {
    return (this.#snapshot as { readonly status: string }).status !== 'active';
  }

  /** Does what the machine begins with. */
  start(): void {
    const first = this.#first;
    this.#first = [];
    this.#isBusy = true;
    for (const action of first) this.#perform(action, { type: 'xstate.init' } as EventFrom<Machine>);
    this.#isBusy = false;
    this.#drain();
  }

  send(event: EventFrom<Machine>): void {
    this.#queue.push(event);
    if (!this.#isBusy) this.#drain();
  }

  /** Forgets every timer; nothing happens any more. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
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

  #arm({ id, delay, event }: DelayedEvent<Machine>): void {
    this.#cancel(id);
    if (this.#deps.mayArm?.(id) === false) return;
    const cancel = this.#deps.clock.setTimer(delay, () => {
      this.#timers.delete(id);
      this.send(event);
    });
    this.#timers.set(id, cancel);
  }

  #cancel(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }
}

interface DelayedEvent<Machine extends AnyStateMachine> {
  readonly id: string;
  readonly delay: number;
  readonly event: EventFrom<Machine>;
}
