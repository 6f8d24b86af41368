import { type AnyActorLogic, type AnyActorRef, createActor } from 'xstate';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { Clock } from '../protocol/seams.ts';
import type { HandlingContext } from './context.ts';

/** What an envelope's handling is to logic: the machine sees it as `ctx`. */
export interface LogicHandling extends Pick<HandlingContext<never>, 'envelope' | 'settle'> {
  readonly isOver: boolean;
}

export interface LogicRunnerDeps {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The logic came to its end. */
  readonly onDone: () => void;
}

/** What an envelope is to XState logic. */
class LogicEvent {
  readonly type: string;
  readonly input: unknown;
  readonly ctx: LogicHandling;

  constructor(type: string, input: unknown, ctx: LogicHandling) {
    this.type = type;
    this.input = input;
    this.ctx = ctx;
  }

  get envelope(): A2AEnvelope {
    return this.ctx.envelope;
  }
}

/** What a snapshot tells us, of whatever logic. */
interface Snapshot {
  readonly status: string;
  hasTag?(tag: string): boolean;
}

/** Runs an agent's XState logic: one root actor, one event an envelope. */
export class LogicRunner {
  readonly #actor: AnyActorRef;
  readonly #isMachine: boolean;
  /** The handling that ends when the machine becomes ready. */
  #pending: LogicHandling | undefined;
  #isStopped = false;
  /** Only while a handling waits: an observer costs on every event. */
  #listening: { unsubscribe(): void } | undefined;

  constructor(logic: AnyActorLogic, input: unknown, { clock, onError, onDone }: LogicRunnerDeps) {
    const actor = createActor(logic, { input, clock: asXStateClock(clock) } as never);
    this.#actor = actor;
    this.#isMachine = typeof (actor.getSnapshot() as Snapshot).hasTag === 'function';
    actor.subscribe({
      error: (error) => {
        if (!this.#isStopped) onError(error);
      },
      complete: () => {
        if (!this.#isStopped) onDone();
      },
    });
    actor.start();
  }

  /** Says whether a machine takes an event of this name in its state; any other logic may. */
  takes(name: string): boolean {
    if (!this.#isMachine) return true;
    const snapshot = this.#actor.getSnapshot() as { can(event: { type: string }): boolean };
    return snapshot.can({ type: name });
  }

  /**
   * Sends the envelope in hand as an event: its capability or message type, with `input`. True when it is handled; else it
   * is when it replies, settles or becomes ready.
   */
  handle(type: string, input: unknown, handling: LogicHandling): boolean {
    this.#pending = undefined;
    this.#actor.send(new LogicEvent(type, input, handling) as never);
    if (handling.isOver || !this.#isMachine) return true;
    if (isReady(this.#actor.getSnapshot() as Snapshot)) return true;
    this.#pending = handling;
    this.#listening ??= this.#actor.subscribe((snapshot) => this.#onSnapshot(snapshot as Snapshot));
    return false;
  }

  stop(): void {
    this.#isStopped = true;
    this.#pending = undefined;
    this.#actor.stop();
  }

  #onSnapshot(snapshot: Snapshot): void {
    const pending = this.#pending;
    if (pending === undefined || !isReady(snapshot)) return;
    this.#pending = undefined;
    this.#listening?.unsubscribe();
    this.#listening = undefined;
    pending.settle();
  }
}

const isReady = (snapshot: Snapshot): boolean => snapshot.hasTag?.('ready') === true;

function asXStateClock(clock: Clock): {
  setTimeout: (fn: () => void, ms: number) => unknown;
  clearTimeout: (id: unknown) => void;
} {
  return {
    setTimeout: (fn, ms) => clock.setTimer(ms, fn),
    clearTimeout: (cancel) => (cancel as () => void)(),
  };
}
