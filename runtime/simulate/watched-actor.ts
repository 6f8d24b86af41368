import type { ActorLife } from '../cell/actor-life.ts';
import { Actor } from '../cell/actor.ts';
import type { Cell } from '../cell/cell.ts';
import type { Handling } from '../cell/handling.ts';
import { isThenable } from '../protocol/promises.ts';
import type { Mail } from '../mailbox/mail.ts';
import { withoutStack } from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { running, type Waits } from './running.ts';

export interface ActorWatch {
  /** Called when the agent begins an envelope. */
  began(cell: Cell, mail: Mail): void;
  /** Whether its handler fails, and if so before or after its work. */
  fault(agentId: string): 'before' | 'after' | undefined;
  /** Called when its handler has returned a promise. `waits` counts its timers. */
  goesOn(handling: Handling, waits: Waits): void;
}

/** The error of a handler that a fault makes fail. */
export class SimulatedFailure extends Error {
  constructor() {
    super('a simulated failure');
    withoutStack(this);
  }
}

/** An actor that reports to a simulation, and fails by its faults. */
export class WatchedActor implements ActorLife {
  readonly #cell: Cell;
  readonly #actor: ActorLife;
  readonly #watch: ActorWatch;

  constructor(cell: Cell, watch: ActorWatch) {
    this.#cell = cell;
    this.#actor = new Actor(cell);
    this.#watch = watch;
  }

  get state(): unknown {
    return this.#actor.state;
  }

  set state(state: unknown) {
    this.#actor.state = state;
  }

  get isOver(): boolean {
    return this.#actor.isOver;
  }

  start(from?: Snapshot): Promise<unknown> {
    return this.#asAgent(() => this.#actor.start(from));
  }

  snapshot(): ReturnType<ActorLife['snapshot']> {
    return this.#actor.snapshot();
  }

  handle(mail: Mail, handling: Handling): unknown {
    const { row } = this.#cell;
    this.#watch.began(this.#cell, mail);
    const fault = this.#watch.fault(row.id);
    if (fault === 'before') throw new SimulatedFailure();
    const waits = { timers: 0, timersEver: 0 };
    const result = this.#asAgent(() => this.#actor.handle(mail, handling), waits);
    if (fault === 'after') return failAfter(result);
    if (isThenable(result)) this.#watch.goesOn(handling, waits);
    return result;
  }

  accepts(name: string): boolean {
    return this.#actor.accepts(name);
  }

  hasBegun(mail: Mail): boolean {
    return this.#actor.hasBegun(mail);
  }

  abandon(): void {
    this.#actor.abandon();
  }

  end(): Promise<void> {
    return this.#asAgent(() => this.#actor.end());
  }

  /** Runs code as the agent's. */
  #asAgent<Result>(run: () => Result, waits?: Waits): Result {
    const store = running.getStore();
    return store === undefined
      ? run()
      : running.run({ ...store, agentId: this.#cell.row.id, ...(waits && { waits }) }, run);
  }
}

function failAfter(result: unknown): unknown {
  if (!isThenable(result)) throw new SimulatedFailure();
  return Promise.resolve(result).then(() => {
    throw new SimulatedFailure();
  });
}
