import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { parseInput } from '../protocol/capability.ts';
import { actorDied, notHere, type OrreryError } from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { notRestored, stateFrom } from '../upgrade/restore.ts';
import { takeSnapshot } from '../upgrade/take-snapshot.ts';
import { type ActorLife, DEFAULT_START_MS, DEFAULT_STOP_MS } from './actor-life.ts';
import { PENDING } from '../agent/pending.ts';
import type { Cell } from './cell.ts';
import { entryOf, envelopeHandlerOf, refuseOtherKind } from '../agent/find-handler.ts';
import { Handling } from './handling.ts';
import { LogicRunner } from '../agent/logic-runner.ts';
import type { ActorRow } from '../protocol/roster.ts';
import { pumpStream } from './stream-windows.ts';

/** One life of an agent whose code runs in this thread. */
export class Actor implements ActorLife {
  /** What `onStart` made, while the actor runs. */
  state: unknown = undefined;
  readonly #cell: Cell;
  /** In which its start and stop run. */
  readonly #life: Handling;
  #logic: LogicRunner | undefined;
  #ending: Promise<void> | undefined;

  constructor(cell: Cell) {
    this.#cell = cell;
    this.#life = new Handling(cell, undefined);
  }

  get isOver(): boolean {
    return this.#life.isOver;
  }

  start(from?: Snapshot): Promise<unknown> {
    const { thread, row, definition } = this.#cell;
    const timeoutMs = definition.options.startTimeoutMs ?? DEFAULT_START_MS;
    thread.running.enter(row.slot);
    const starting = this.#begin(from);
    thread.running.leave();
    return thread.wheel.within(starting, timeoutMs, `The start of ${row.id}`);
  }

  async #begin(from: Snapshot | undefined): Promise<unknown> {
    const cell = this.#cell;
    const kept = from && stateFrom(cell.definition, from);
    const { card } = cell.row.profile;
    // All that an agent of another node says came from outside, from its first word, unless its owner here trusts it.
    if (card.origin === 'remote') for (const source of card.taint ?? []) this.#life.markOutside(source);
    const made = await cell.definition.start?.(this.#life);
    const logic = cell.definition.actorLogic;
    // A start that took too long may come to its end in the next life.
    if (logic === undefined || this.isOver) return kept === undefined ? made : kept.state;
    const deps = {
      clock: cell.thread.seams.clock,
      onError: (error: unknown) => cell.crash(error, cell.handlings.at(-1), true),
      onDone: () => cell.exit(),
      watch: cell.thread.log.stepsOf(cell.row.id),
    };
    try {
      this.#logic = new LogicRunner(logic, made, deps, kept);
    } catch (error) {
      throw from === undefined ? error : notRestored(cell.definition, from, error);
    }
    return made;
  }

  snapshot(): Snapshot | undefined {
    const { row, definition, thread } = this.#cell;
    const left = this.#logic === undefined ? { state: this.state } : this.#logic.leave();
    return left && takeSnapshot(definition, left, { agentId: row.id, atMs: thread.seams.clock.now() });
  }

  /** Runs the code for `mail`, on what its capability makes of the payload: what it returns or throws is the outcome. */
  handle(mail: Mail, handling: Handling): unknown {
    const { capability, payload } = mail;
    const { row, definition } = this.#cell;
    const entry = entryOf(definition, capability);
    if (entry === undefined) {
      if (this.#logic !== undefined && this.#isForLogic(mail))
        return this.#send(this.#logic, mail, payload, handling);
      return this.#handleEnvelope(mail, handling);
    }
    refuseOtherKind(entry, mail.extras?.stream === true, row.id);
    handling.entry = entry;
    // The mail keeps what was sent: a second attempt parses it again.
    const input = parseInput(entry.capability, payload);
    if (this.#logic !== undefined && entry.isContent !== true)
      return this.#send(this.#logic, mail, input, handling);
    if (entry.kind === 'stream') return pumpStream(entry, input, handling);
    return entry.run(input as never, handling as never);
  }

  get row(): ActorRow | undefined {
    return this.#logic?.row;
  }

  /** Says whether its logic takes what names this message type or capability. */
  accepts(name: string): boolean {
    return this.#logic?.accepts(name) === true;
  }

  /** Only what somebody else would answer is kept from logic that does not take it. */
  #isForLogic(mail: Mail): boolean {
    const name = mail.capability ?? messageTypeOf(mail);
    return this.#cell.thread.interceptors.handlerOf(name) === undefined || this.accepts(name);
  }

  /** Its code runs in this thread: by the time that anybody asks it has. */
  hasBegun(): boolean {
    return true;
  }

  #send(logic: LogicRunner, mail: Mail, input: unknown, handling: Handling): unknown {
    return logic.handle(mail.capability ?? messageTypeOf(mail), input, handling) ? undefined : PENDING;
  }

  #handleEnvelope(mail: Mail, handling: Handling): unknown {
    const { capability } = mail;
    const { row, definition, thread } = this.#cell;
    const intercepted = thread.interceptors.handlerOf(capability ?? messageTypeOf(mail));
    if (intercepted !== undefined && !definition.envelopeHandlers.has(messageTypeOf(mail)))
      return intercepted(handling.envelope, handling);
    const onEnvelope = envelopeHandlerOf(definition, row.id, messageTypeOf(mail), capability);
    return onEnvelope(handling.envelope, handling);
  }

  /** It did not start: what it asked meanwhile is cancelled. */
  abandon(): void {
    this.#endLife(actorDied(this.#cell.row.id, 'it did not start'));
  }

  /** Stops the logic and runs `onStop`, once; what that throws is reported. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { thread, row, definition } = this.#cell;
    this.#logic?.stop();
    this.#logic = undefined;
    const { stop } = definition;
    if (stop !== undefined && !this.isOver) {
      const timeoutMs = definition.options.stopTimeoutMs ?? DEFAULT_STOP_MS;
      thread.running.enter(row.slot);
      try {
        const stopping = stop(this.#life as never);
        thread.running.leave();
        await thread.wheel.within(Promise.resolve(stopping), timeoutMs, `The stop of ${row.id}`);
      } catch (error) {
        thread.running.leave();
        thread.log.error(row.id, error);
      }
    }
    this.#endLife(notHere(row.id, thread.id));
  }

  #endLife(reason: OrreryError): void {
    this.#life.abort(reason);
    this.#life.end();
    this.state = undefined;
  }
}
