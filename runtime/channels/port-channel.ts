import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import {
  cancelled,
  channelClosed,
  invalidEnvelope,
  type ErrorCode,
  type OrreryError,
} from '../protocol/errors.ts';
import type { Seams } from '../protocol/seams.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { A2AChannel, ChannelSendOptions } from './a2a-channel.ts';
import { ChannelCourse } from './channel-course.ts';
import type { ChannelEventBody } from './channel-event.ts';
import { type MessageHandler, MessageHandlers } from './message-handlers.ts';
import type { PortChannelSettings } from './port-channel-options.ts';
import type { DataAnswer, PortAim, PortStamp } from './port-mail.ts';
import type { ChannelAgent, PortMailer } from './port-mailer.ts';
import { PortSender } from './port-sender.ts';
import { ownEnvelope } from './written-envelope.ts';

/** How often an agent that dies over a channel is asked again to take it. */
const MAX_DIALS = 3;

/** Codes after which an agent is asked again: it failed, or its actor or thread died. */
const FAILED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ACTOR_DIED', 'HANDLER_FAILED', 'THREAD_DIED']);

/** Says whether an agent whose answer to the `dials`th request to go on had this code is asked again. */
export const mayAskAgain = (code: ErrorCode, dials: number): boolean => FAILED.has(code) && dials < MAX_DIALS;

export interface PortChannelDeps {
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  /** The local agent, to which this end belongs. */
  readonly agent: ChannelAgent;
  readonly mailer: PortMailer;
  readonly report: (event: ChannelEventBody) => void;
  /** Says whether the thread of a life is there. */
  readonly isThere: (life: string) => boolean;
  readonly onClosed: () => void;
}

/**
 * How one end begins.
 *
 * - `asks`      the other end is to be asked; the one that is asked waits, until it was open.
 * - `isResumed` as `AgentChannel` has it.
 */
export interface PortChannelStart {
  readonly settings: PortChannelSettings;
  readonly asks: boolean;
  readonly isResumed: boolean;
}

/**
 * A channel as an agent has it.
 *
 * - `isAccepted` the other agent opened it.
 * - `isResumed`  it was open with this agent before, in a life that is over.
 */
export interface AgentChannel<Context> extends A2AChannel {
  readonly isAccepted: boolean;
  readonly isResumed: boolean;
  /**
   * As `A2AChannel.onMessage`. A handler runs in the agent's turn, one envelope at a time, with the context of what is in
   * hand; if it returns a promise the agent takes nothing else until that settles.
   */
  onMessage(handler: MessageHandler<Context>): () => void;
}

/**
 * One end of a channel between two agents of a system: a view on the ordinary way of envelopes, which orders, bounds and
 * keeps them and knows of every death. What it adds is a life, a window, and the way back after a death.
 *
 * The end that is left when the other's actor dies asks its successor to take the channel; what that had not begun is given
 * to it.
 */
export class PortChannel<Context> implements AgentChannel<Context> {
  readonly id: string;
  readonly localAgentId: string;
  readonly remoteAgentId: string;
  readonly transport = 'local';
  readonly isAccepted: boolean;
  readonly isResumed: boolean;
  readonly stamp: PortStamp;
  /** Settles when the channel is open for the first time, or closed without. */
  readonly opened: Promise<void>;
  readonly #openedNow = Promise.withResolvers<void>();
  readonly #deps: PortChannelDeps;
  readonly #settings: PortChannelSettings;
  readonly #sender: PortSender;
  readonly #handlers: MessageHandlers<Context>;
  readonly #course: ChannelCourse;
  #asks: boolean;
  #wasOpen = false;
  #peer: PortAim | undefined;
  #runs = 0;
  #toldRun = 0;
  #untilMs = 0;
  #dials = 0;
  #attempt: AbortController | undefined;
  #cancelDeadline: (() => void) | undefined;
  #cancelRedial: (() => void) | undefined;
  #lastWord: 'close' | 'lost' | undefined;
  #leftBecause: string | undefined;
  #closeReason: OrreryError | undefined;

  constructor(stamp: PortStamp, deps: PortChannelDeps, { settings, asks, isResumed }: PortChannelStart) {
    const { report, mailer } = deps;
    this.id = stamp.channelId;
    this.localAgentId = stamp.localAgentId;
    this.remoteAgentId = stamp.remoteAgentId;
    this.isAccepted = stamp.granted;
    this.isResumed = isResumed;
    this.stamp = stamp;
    this.#settings = settings;
    this.#asks = asks;
    this.#deps = deps;
    this.opened = this.#openedNow.promise;
    // Whoever does not wait for it hears of the end by events.
    this.opened.catch(() => undefined);
    this.#course = new ChannelCourse(report, {
      dial: () => this.#dial(),
      dialAgain: () => this.#dialAgain(),
      resume: () => this.#resume(),
      release: (reason) => this.#release(reason),
    });
    this.#handlers = new MessageHandlers(report);
    this.#sender = new PortSender(
      {
        channelId: this.id,
        give: (...given) => mailer.give(...given),
        report,
        onLost: (life, reason) => this.lost(life, reason),
        onClosed: () => this.closedThere('the other end closed it'),
      },
      settings,
    );
  }

  get status(): ChannelStatus {
    return this.#course.status;
  }

  /** The life of the other agent that it is open with, or was last. */
  get peerLife(): string | undefined {
    return this.#peer?.life;
  }

  /** Where this end can be written to. */
  get aim(): PortAim {
    return { life: this.#deps.agent.life, run: this.#handlers.size > 0 ? this.#runs : 0 };
  }

  /** Begins the channel's life. */
  start(): void {
    this.#course.start();
  }

  async send(envelope: A2AEnvelope, { signal }: ChannelSendOptions = {}): Promise<void> {
    if (this.#course.status === 'closed') throw this.#closedError();
    const { agent } = this.#deps;
    const own = tainted(ownEnvelope(envelope, this.localAgentId), agent.taint());
    const { recipient, metadata } = own;
    if (recipient !== this.remoteAgentId)
      throw invalidEnvelope(`recipient: "${recipient}" is not at the other end, "${this.remoteAgentId}" is`);
    if (metadata?.routingHint !== undefined)
      throw invalidEnvelope('metadata.routingHint: a channel has one recipient, whatever it can do');
    if (signal?.aborted === true) throw cancelled(`Sending ${own.id}`);
    if (this.#leftBecause !== undefined) throw channelClosed(this.id, this.#leftBecause);
    return this.#sender.send({ envelope: own, behalf: agent.behalf() }, signal);
  }

  onMessage(handler: MessageHandler<Context>): () => void {
    if (this.#course.status === 'closed') return () => undefined;
    const isFirst = this.#handlers.size === 0;
    const stop = this.#handlers.add(handler);
    if (isFirst) {
      this.#runs += 1;
      if (this.#course.status === 'open') this.#tellReady();
    }
    return stop;
  }

  async close(): Promise<void> {
    this.end('close', 'it was closed here');
  }

  /** Ends it; the other end is told the last word: that the channel is closed, or that this end's actor is over. */
  end(lastWord: 'close' | 'lost' | undefined, reason: string, because?: OrreryError): void {
    if (this.#course.status === 'closed') return;
    this.#lastWord = lastWord;
    this.#closeReason = because;
    this.#course.take('channel.close', reason);
  }

  /** Opens the end that was asked. */
  accepted(peer: PortAim): void {
    this.#toldRun = this.aim.run;
    this.#meet(peer);
  }

  /** A life of the other agent is over; false when it is not open with that. Nobody asks for what is closed there. */
  lost(life: string, reason: string): boolean {
    if (this.#course.status !== 'open' || this.#peer?.life !== life) return false;
    if (this.#leftBecause !== undefined) return false;
    this.#sender.aimAt(undefined);
    this.#course.take('connection.lost', reason);
    return true;
  }

  /** The other end listens from now on; false when it is not open with that life. */
  readyThere(peer: PortAim): boolean {
    if (this.#peer?.life !== peer.life) return false;
    // One that came before the channel was known is taken in its turn, after later ones.
    if (peer.run < this.#peer.run) return true;
    this.#peer = peer;
    if (this.#course.status === 'open') this.#sender.aimAt(peer);
    return true;
  }

  /** The other end has closed it, and takes nothing more; what it had sent before comes in its turn, and then the end. */
  leftThere(reason: string): void {
    this.#leftBecause = reason;
    this.#sender.close(reason);
  }

  closedThere(reason: string): void {
    if (this.#course.status === 'closed') return;
    // Whoever takes the channel meanwhile would keep it.
    if (this.#attempt !== undefined) this.#lastWord = 'close';
    this.#course.take('peer.closed', reason);
  }

  /** Gives an envelope that came for `run` to the handlers; `settled` is there while some of them go on. */
  take(
    run: number | undefined,
    envelope: () => A2AEnvelope,
    ctx: Context,
  ): { readonly answer: DataAnswer; readonly settled?: Promise<unknown> | undefined } {
    if (this.#handlers.size === 0 || run !== this.#runs) return { answer: 'later' };
    return { answer: undefined, settled: this.#handlers.call(envelope(), ctx) };
  }

  #dial(): void {
    const { clock } = this.#deps.seams;
    const { openTimeoutMs, reconnectTimeoutMs } = this.#settings;
    const [what, timeoutMs] = this.#wasOpen
      ? (['open again', reconnectTimeoutMs] as const)
      : (['opened', openTimeoutMs] as const);
    this.#untilMs = clock.now() + timeoutMs;
    this.#dials = 0;
    this.#cancelDeadline = clock.setTimer(timeoutMs, () => {
      this.#lastWord = 'close';
      this.#course.take('deadline.passed', `it was not ${what} within ${timeoutMs} ms`);
    });
    if (this.#asks) this.#ask();
  }

  #dialAgain(): void {
    const { clock, random } = this.#deps.seams;
    const waitMs = backOffMs(this.#settings.redial, this.#dials, random);
    this.#cancelRedial = clock.setTimer(waitMs, () => this.#ask());
  }

  #ask(): void {
    const attempt = new AbortController();
    const { aim } = this;
    this.#attempt = attempt;
    this.#dials += 1;
    this.#toldRun = aim.run;
    this.#deps.mailer.open(
      { ...aim, resumes: this.#wasOpen },
      { untilMs: this.#untilMs, signal: attempt.signal },
      (outcome) => {
        if (this.#attempt !== attempt) return;
        this.#attempt = undefined;
        if ('value' in outcome) this.#meet(outcome.value as PortAim);
        else this.#refused(outcome.error);
      },
    );
  }

  /** A channel that was open outlives several deaths; whoever dies over a first request may have died of it. */
  #refused(error: OrreryError): void {
    if (this.#wasOpen && mayAskAgain(error.code, this.#dials)) {
      this.#course.take('connection.lost', error.message);
      return;
    }
    this.#closeReason = error;
    this.#course.take('peer.refused', error.message);
  }

  /** Opens the channel: both ends have acknowledged. */
  #meet(peer: PortAim): void {
    this.#peer = peer;
    this.#course.take('peer.acknowledged');
  }

  #resume(): void {
    this.#cancelDeadline?.();
    this.#asks = true;
    this.#wasOpen = true;
    this.#openedNow.resolve();
    if (this.aim.run !== this.#toldRun) this.#tellReady();
    const peer = this.#peer as PortAim;
    this.#sender.aimAt(peer);
    if (!this.#deps.isThere(peer.life)) this.lost(peer.life, 'its thread is gone');
  }

  #tellReady(): void {
    const { aim } = this;
    this.#toldRun = aim.run;
    if (aim.run > 0) this.#deps.mailer.tell('ready', aim);
  }

  #stopAsking(): void {
    this.#cancelRedial?.();
    const attempt = this.#attempt;
    this.#attempt = undefined;
    // A cancelled ask has been rejected already: this answer is ignored.
    attempt?.abort();
  }

  #release(reason: string): void {
    const { mailer, agent, onClosed } = this.#deps;
    this.#cancelDeadline?.();
    this.#stopAsking();
    this.#closeReason ??= channelClosed(this.id, reason);
    this.#sender.close(reason);
    this.#handlers.clear();
    this.#openedNow.reject(this.#closeReason);
    if (this.#lastWord === 'close') mailer.tell('close', { reason });
    else if (this.#lastWord === 'lost') mailer.tell('lost', { life: agent.life });
    onClosed();
  }

  /** Always CHANNEL_CLOSED, whatever closed it. */
  #closedError(): OrreryError {
    return channelClosed(this.id, this.#closeReason?.message ?? 'it was closed');
  }
}

/** The envelope with what is on its sender; as which tier that is judged its card says. */
function tainted(envelope: A2AEnvelope, taint: Taint | undefined): A2AEnvelope {
  const { metadata } = envelope;
  const all = mergeTaint(metadata?.taint, taint);
  return all === undefined ? envelope : { ...envelope, metadata: { tier: 3, ...metadata, taint: all } };
}
