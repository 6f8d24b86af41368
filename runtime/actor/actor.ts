import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { parseInput } from '../protocol/capability.ts';
import { actorDied, notHere, type OrreryError, refused } from '../protocol/errors.ts';
import type { HandlerEntry } from './agent-definition.ts';
import type { Cell } from './cell.ts';
import { Handling } from './handling.ts';
import { LogicRunner } from './logic-runner.ts';
import { pumpStream } from './stream-pump.ts';

const DEFAULT_START_MS = 5_000;
const DEFAULT_STOP_MS = 1_000;

/** The handler answers later, by `reply` or `settle`. */
export const PENDING = Symbol('pending');

/** One life of an agent: what its code does from `onStart` to `onStop`. */
export class Actor {
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

  /** Resolves to its state. Rejects when `onStart` fails or takes too long. */
  start(): Promise<unknown> {
    const { place, row, definition } = this.#cell;
    const timeoutMs = definition.options.startTimeoutMs ?? DEFAULT_START_MS;
    place.enter(row.slot);
    const starting = this.#begin();
    place.leave();
    return place.within(starting, timeoutMs, `The start of ${row.id}`);
  }

  async #begin(): Promise<unknown> {
    const cell = this.#cell;
    const state = await cell.definition.start?.(this.#life);
    const logic = cell.definition.actorLogic;
    // A start that took too long may come to its end in the next life.
    if (logic === undefined || this.isOver) return state;
    this.#logic = new LogicRunner(logic, state, {
      clock: cell.place.seams.clock,
      onError: (error) => cell.crash(error, cell.handlings.at(-1)),
      onDone: () => cell.exit(),
    });
    return state;
  }

  /** Runs the code for `mail`, on what its capability makes of the payload: what it returns or throws is the outcome. */
  handle(mail: Mail, handling: Handling): unknown {
    const { capability, payload } = mail;
    const { row, definition } = this.#cell;
    const entry = capability === undefined ? undefined : definition.handlers.get(capability);
    if (entry === undefined) {
      if (this.#logic !== undefined) return this.#send(this.#logic, payload, handling);
      return this.#handleEnvelope(mail, handling);
    }
    refuseOtherKind(entry, mail, row.id);
    handling.entry = entry;
    // The mail keeps what was sent: a second attempt parses it again.
    const input = parseInput(entry.capability, payload);
    if (this.#logic !== undefined) return this.#send(this.#logic, input, handling);
    if (entry.kind === 'stream') return pumpStream(entry, input, handling);
    return entry.run(input as never, handling as never);
  }

  #send(logic: LogicRunner, input: unknown, handling: Handling): unknown {
    return logic.handle(input, handling) ? undefined : PENDING;
  }

  #handleEnvelope(mail: Mail, handling: Handling): unknown {
    const { capability } = mail;
    const { row, definition } = this.#cell;
    if (capability !== undefined && definition.envelopeHandlers.size === 0) {
      throw refused(`${row.id} does not handle the capability "${capability}"`, { capability });
    }
    const messageType = messageTypeOf(mail);
    const onEnvelope = definition.envelopeHandlers.get(messageType);
    if (onEnvelope !== undefined) return onEnvelope(handling.envelope, handling);
    throw refused(`${row.id} handles no ${messageType} without a capability`, { messageType });
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
    const { place, row, definition } = this.#cell;
    this.#logic?.stop();
    this.#logic = undefined;
    const { stop } = definition;
    if (stop !== undefined && !this.isOver) {
      const timeoutMs = definition.options.stopTimeoutMs ?? DEFAULT_STOP_MS;
      place.enter(row.slot);
      try {
        const stopping = stop(this.#life as never);
        place.leave();
        await place.within(Promise.resolve(stopping), timeoutMs, `The stop of ${row.id}`);
      } catch (error) {
        place.leave();
        place.log.error(row.id, error);
      }
    }
    this.#endLife(notHere(row.id, place.id));
  }

  #endLife(reason: OrreryError): void {
    this.#life.cutOff(reason);
    this.#life.end();
    this.state = undefined;
  }
}

/** A value is asked for, a stream is read: the other way the answer would go nowhere. */
function refuseOtherKind({ kind, capability: { id } }: HandlerEntry, mail: Mail, agentId: string): void {
  const isRead = mail.extras?.stream === true;
  if (isRead === (kind === 'stream')) return;
  const how = kind === 'stream' ? 'a stream: read it with stream()' : 'one value: ask for it with ask()';
  throw refused(`${agentId} answers "${id}" with ${how}`, { capability: id, kind });
}
