import {
  type Acceptance,
  AgentChannels,
  type ChannelOpener,
  type PortAnswer,
} from '../channels/agent-channels.ts';
import type { AgentChannel as AgentChannelOf } from '../channels/port-channel.ts';
import type { PortOutcome } from '../channels/port-sender.ts';
import type { ChannelAgent } from '../channels/port-mailer.ts';
import { type Behalf, behalfOf } from '../mailbox/behalf.ts';
import { type Mail, NO_ASK, REPLY } from '../mailbox/mail.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { cancelled, invalidOptions, type OrreryError } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { ActorLife } from './actor-life.ts';
import type { CellThread } from './cell-thread.ts';
import type { Cell } from './cell.ts';
import { absorbTaint, handOver } from './cell-taint.ts';
import type { ActorContext, HandlingContext } from '../agent/context.ts';
import type { Handling } from './handling.ts';
import { WaitingAsk } from './waiting-asks.ts';

/** A channel to another agent of the system, as an agent with this state has it. */
export type AgentChannel<State = undefined> = AgentChannelOf<HandlingContext<State>>;

/** The channels of an agent: opens them, and lists those that are not closed. */
export type AgentChannelOpener<State = undefined> = ChannelOpener<HandlingContext<State>>;

/** A mail of a channel on its way. */
class WaitingDelivery extends WaitingAsk {
  readonly #answered: (outcome: PortOutcome) => void;

  constructor(asked: Mail, answered: (outcome: PortOutcome) => void) {
    super(asked, undefined, {});
    this.#answered = answered;
  }

  /** That it was taken in says nothing; why it was not may. */
  override tainted(taint: Taint, kind: number): void {
    if (kind === REPLY.error) super.tainted(taint, kind);
  }

  protected answered(_kind: number, value: unknown): boolean {
    this.#answered({ value });
    return false;
  }

  protected failed(error: Error): void {
    this.#answered({ error: error as OrreryError });
  }
}

/** One life of the agent that runs in a cell, as its channels have it. */
class ChannelLife implements ChannelAgent {
  readonly agentId: string;
  readonly life: string;
  readonly #cell: Cell;

  constructor(cell: Cell, life: string) {
    this.agentId = cell.row.id;
    this.life = life;
    this.#cell = cell;
  }

  ask(mail: Mail, answered: (outcome: PortOutcome) => void, signal?: AbortSignal): void {
    const cell = this.#cell;
    const { taint } = cell.lives;
    if (taint !== undefined && mail.extras?.channel?.act === 'open') mail.extras = { ...mail.extras, taint };
    const waiting = new WaitingDelivery(mail, answered);
    waiting.absorbs = (absorbed) => absorbTaint(cell, undefined, absorbed);
    cell.thread.mailSender.askLater(cell.row, waiting, signal === undefined ? {} : { signal });
  }

  taint(): Taint | undefined {
    return this.#cell.lives.taint;
  }

  /** With several in hand the others wait for what came last. The embedder works for itself at any time. */
  behalf(): Behalf | undefined {
    const { row, handlings } = this.#cell;
    return row.party.isSystem ? undefined : behalfOf(handlings.at(-1)?.mail?.extras);
  }
}

/** What knows of channels that only pass through this thread: their other ends are on other nodes. */
export interface ChannelPassage {
  /** Called when a thread has died, with every life that `wasThere`. */
  threadDied(wasThere: (life: string) => boolean): void;
}

/** The channels of the agents of one thread, an `AgentChannels` an actor that has any. */
export class CellChannels {
  passage: ChannelPassage | undefined;
  readonly #thread: CellThread;
  readonly #bySlot = new Map<number, AgentChannels<HandlingContext>>();
  #lives = 0;

  constructor(thread: CellThread) {
    this.#thread = thread;
  }

  [Symbol.iterator](): Iterator<AgentChannels<HandlingContext>> {
    return this.#bySlot.values();
  }

  /** Those of the actor that runs in `cell`. */
  of(cell: Cell): AgentChannels<HandlingContext> {
    const { slot } = cell.row;
    const known = this.#bySlot.get(slot);
    if (known !== undefined) return known;
    const thread = this.#thread;
    this.#lives += 1;
    const channels = new AgentChannels<HandlingContext>(
      {
        agent: new ChannelLife(cell, `${thread.incarnation}.${this.#lives}`),
        seams: thread.seams,
        isThere: (life) =>
          incarnationOf(life) === thread.incarnation ||
          thread.links.ofIncarnation(incarnationOf(life)) !== undefined,
        log: thread.log,
      },
      cell.definition.acceptance as Acceptance<HandlingContext> | undefined,
    );
    this.#bySlot.set(slot, channels);
    return channels;
  }

  /** Has the agent hear of a mail of a channel that has just come; true when it is handled. */
  hears(cell: Cell, mail: Mail): boolean {
    if (mail.tombstone !== undefined || this.#bySlot.get(cell.row.slot)?.hear(mail) !== true) return false;
    cell.outcomes.reply(mail, REPLY.empty, undefined);
    return true;
  }

  /** Has the agent take in a mail of a channel. What is returned, or settles, is the answer. */
  handle(cell: Cell, mail: Mail, handling: Handling): unknown {
    if (cell.definition.isRelay) return (cell.lives.current as ActorLife).handle(mail, handling);
    const given = (): A2AEnvelope => {
      const taint = mail.extras?.taint;
      if (taint !== undefined) handOver(cell, mail, taint);
      return handling.envelope;
    };
    const taken = this.of(cell).take(mail, given, handling);
    return taken instanceof Promise ? taken.then(({ answer }) => answer) : this.#answer(cell, mail, taken);
  }

  /** Whoever sent it learns that a handler was called, not when that is done. */
  #answer(cell: Cell, mail: Mail, { answer, settled }: PortAnswer): unknown {
    if (settled === undefined) return answer;
    cell.outcomes.reply(mail, REPLY.empty, undefined);
    mail.ask = NO_ASK;
    return settled;
  }

  /** The actor of `cell` is over. */
  ended({ row }: Cell): void {
    const channels = this.#bySlot.get(row.slot);
    if (channels === undefined) return;
    this.#bySlot.delete(row.slot);
    channels.end(`the actor of ${row.id} is over`);
  }

  threadDied(incarnation: number): void {
    const wasThere = (life: string): boolean => incarnationOf(life) === incarnation;
    for (const channels of this.#bySlot.values()) channels.threadDied(wasThere);
    this.passage?.threadDied(wasThere);
  }

  close(error: OrreryError): void {
    for (const channels of this.#bySlot.values()) channels.shut(error);
    this.#bySlot.clear();
  }
}

/** A life is named by the incarnation of its thread, and a number in it. */
const incarnationOf = (life: string): number => Number.parseInt(life, 10);

/**
 * The channels of the agent whose context this is. They outlast what is in hand, and end with the actor.
 *
 * Fails with INVALID_OPTIONS on what is no context of an agent in a thread of the system, and with CANCELLED when the work
 * that the context was given for is over.
 */
export function channelsOf<State>(ctx: ActorContext<State>): AgentChannelOpener<State> {
  const { cell, isOver } = (ctx ?? {}) as unknown as Partial<Handling>;
  if (cell === undefined)
    throw invalidOptions('ctx', ctx, 'the context of an agent in a thread of the system');
  if (isOver === true) throw cancelled(`The work of ${cell.row.id}`);
  return cell.thread.channels.of(cell) as unknown as AgentChannelOpener<State>;
}
