import { type AnyActorLogic, type AnyActorRef, type AnyMachineSnapshot, createActor } from 'xstate';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { reasonOf, refused } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { StepWatch } from '../protocol/step-watch.ts';
import { nameOfState } from '../machine/state-names.ts';
import type { ActorRow } from '../protocol/roster.ts';
import { isMachine } from '../upgrade/state-identity.ts';
import { LogicInspection } from './logic-inspection.ts';
import type { MachineState, StateTimer } from '../upgrade/machine-state.ts';
import type { JournalledState } from '../upgrade/restore.ts';
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
  /** Of the machines that it runs. */
  readonly watch?: StepWatch;
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
  readonly error?: unknown;
  hasTag?(tag: string): boolean;
}

/**
 * Runs an agent's XState logic: one root actor, one event an envelope.
 *
 * It is an actor of XState's, and not a `MachineHost`: logic may be a promise, a call-back or an observable, may invoke and
 * spawn, and its actions may use `self` and `system`. Nor would a host be faster: an event of the benchmark's machine takes
 * 4.5 us of processor time in either (a step as `transition` makes it, 15 us).
 */
export class LogicRunner {
  readonly #actor: AnyActorRef;
  readonly #timers: LogicTimers;
  readonly #isMachine: boolean;
  /** The handling that ends when the machine becomes ready. */
  #pending: LogicHandling | undefined;
  #isStopped = false;
  readonly #watch: StepWatch | undefined;
  readonly #stopWatching: (() => void) | undefined;
  /** Only while somebody watches: XState tells of every event then. */
  #inspection: LogicInspection | undefined;
  /** Only while a handling waits: an observer costs on every event. */
  #listening: { unsubscribe(): void } | undefined;

  /** `kept`: the state that it begins with, as `leave` gave it. Throws when that is none that it can go on with. */
  constructor(
    logic: AnyActorLogic,
    input: unknown,
    { clock, onError, onDone, watch }: LogicRunnerDeps,
    kept?: JournalledState,
  ) {
    const timers = new LogicTimers(clock);
    this.#watch = watch;
    const snapshot = kept && { snapshot: snapshotOf(logic, kept) };
    const actor = createActor(logic, { input, clock: timers.xstateClock, ...snapshot } as never);
    timers.attach(actor);
    this.#timers = timers;
    this.#actor = actor;
    if (kept !== undefined) requireActive(actor.getSnapshot() as Snapshot);
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
    this.#stopWatching = watch?.onChange?.(() => this.#inspect());
    this.#inspect();
    if (kept !== undefined && this.#isMachine) timers.resume((kept.state as MachineState).timers ?? []);
  }

  /**
   * The state that the next actor can begin with; undefined when it is over, and for logic that is neither a machine nor a
   * transition function: that begins anew. Throws REFUSED when the state is not all there is to hand on.
   */
  leave(): JournalledState | undefined {
    const persisted = this.#persisted();
    if (persisted.status !== 'active') return undefined;
    if (this.#isMachine) return { state: { ...persisted, timers: this.#timers.left() } };
    return 'context' in persisted && !('input' in persisted) ? { state: persisted.context } : undefined;
  }

  /** The machine as a line of the roster; undefined for other logic. */
  get row(): ActorRow | undefined {
    if (!this.#isMachine) return undefined;
    const { machine, value } = this.#actor.getSnapshot() as AnyMachineSnapshot;
    return { id: machine.id, machine: machine.id, state: nameOfState(value) };
  }

  /** Says whether a machine takes an event of this name in its state; any other logic may. */
  accepts(name: string): boolean {
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
    this.#listening ??= this.#actor.subscribe({
      next: (snapshot) => this.#onSnapshot(snapshot as Snapshot),
      // The first observer hears of it; XState throws in the middle of nowhere where one does not listen for errors.
      error: () => undefined,
    });
    return false;
  }

  /** Begins to inspect the actor when somebody watches, and ends it when nobody does any more. */
  #inspect(): void {
    const isOn = this.#watch?.isOn() === true;
    if (isOn === (this.#inspection !== undefined)) return;
    this.#inspection?.end();
    this.#inspection = isOn ? new LogicInspection(this.#actor, this.#watch as StepWatch) : undefined;
  }

  #persisted(): Snapshot & { readonly context?: unknown } {
    try {
      return this.#actor.getPersistedSnapshot() as Snapshot;
    } catch (error) {
      throw refused(`its state cannot be handed on: ${reasonOf(error)}`);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
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

/** What XState restores. */
function snapshotOf(logic: AnyActorLogic, { state }: JournalledState): unknown {
  if (!isMachine(logic)) return { status: 'active', output: undefined, error: undefined, context: state };
  const { timers: _timers, ...persisted } = state as MachineState;
  return persisted;
}

function requireActive({ status, error }: Snapshot): void {
  if (status !== 'active')
    throw error ?? new Error(`its logic is ${status} in the state that it begins with`);
}

/** The delayed events of an agent's logic: they count by the agent's clock, and can be handed on with its state. */
class LogicTimers {
  readonly #clock: Clock;
  #root: AnyActorRef | undefined;
  /** When each scheduled event comes, by the monotonic clock. */
  readonly #dueMs = new WeakMap<object, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As XState wants it. */
  readonly xstateClock = {
    setTimeout: (run: () => void, ms: number): unknown => {
      const dueMs = this.#clock.monotonicMs() + ms;
      // XState has noted the event just before, and does not say which it was.
      for (const event of this.#scheduled()) if (!this.#dueMs.has(event)) this.#dueMs.set(event, dueMs);
      return this.#clock.setTimer(ms, run);
    },
    clearTimeout: (cancel: unknown): void => (cancel as () => void)(),
  };

  /** The actor whose events they are. */
  attach(root: AnyActorRef): void {
    this.#root = root;
  }

  /** Those that are still to come, with what is left of their delays. Throws REFUSED for one of another actor, or to one. */
  left(): readonly StateTimer[] {
    const root = this.#root;
    const nowMs = this.#clock.monotonicMs();
    return this.#scheduled().map((scheduled) => {
      const { id, event, source, target } = scheduled;
      if (source !== root || target !== root)
        throw refused(
          `the delayed event "${event.type}" from "${source.id}" to "${target.id}" cannot be handed on`,
        );
      return { id, event, delayMs: Math.max(0, (this.#dueMs.get(scheduled) ?? nowMs) - nowMs) };
    });
  }

  /** Goes on with what an actor before had left. */
  resume(timers: readonly StateTimer[]): void {
    const root = this.#root as AnyActorRef;
    for (const { id, event, delayMs } of timers)
      root.system.scheduler.schedule(root, root, event, delayMs, id);
  }

  #scheduled() {
    return Object.values(this.#root?.system.getSnapshot()._scheduledEvents ?? {});
  }
}
