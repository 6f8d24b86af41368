import type { A2AEnvelope } from '../protocol/envelope.ts';
import { cancelled, channelClosed, type OrreryError } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Connection, TransportKind } from '../protocol/transport.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { A2AChannel, ChannelSendOptions } from './a2a-channel.ts';
import { ChannelCourse } from './channel-course.ts';
import type { ChannelEventBody, ChannelIdentity } from './channel-event.ts';
import {
  CHANNEL_PROTOCOL_VERSION,
  type ChannelFrame,
  frameText,
  type Hello,
  largestEnvelope,
  type Welcome,
} from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';
import type { Credentials, HelloRefusal } from './credentials.ts';
import type { Dialer } from './dialer.ts';
import { HelloExchange } from './hello-exchange.ts';
import { ChannelConnection, type ConnectionUser } from './channel-connection.ts';
import type { MessageHandler } from './message-handlers.ts';
import { ChannelReceiver } from './channel-receiver.ts';
import { ChannelSender } from './channel-sender.ts';
import { writeEnvelope } from './written-envelope.ts';

/** Who keeps the ends of channels that are not closed, and is told by each: it is open for the first time, it is closed. */
export interface ChannelKeeper {
  opened(end: ChannelEnd): void;
  closed(end: ChannelEnd): void;
}

/** `dialer` is what the end that opened the channel has, and the other has not. */
export interface ChannelEndDeps {
  readonly clock: Clock;
  readonly settings: ChannelSettings;
  readonly credentials: Credentials;
  readonly dialer?: Dialer;
  readonly report: (event: ChannelEventBody) => void;
  readonly keeper: ChannelKeeper;
}

/** A connection over which the other end said hello, and the key with which it proved who it is. */
export interface TakenConnection {
  readonly connection: ChannelConnection;
  readonly hello: Hello;
  readonly challenge: string;
  readonly transport: TransportKind;
  readonly publicKey: string | undefined;
}

type Greeting = Omit<Welcome, 'type'>;

/**
 * One end of a channel: its life, and the handshake of every connection.
 *
 * The end that dials says hello and is open when it is welcome; the other one is open when it hears anything after its
 * welcome. Both say how much they have received, and so each knows where the other goes on.
 */
export class ChannelEnd implements A2AChannel {
  readonly id: string;
  readonly localAgentId: string;
  readonly remoteAgentId: string;
  /** Settles when the channel is open for the first time, or closed without. */
  readonly opened: Promise<void>;
  readonly #deps: ChannelEndDeps;
  readonly #sender: ChannelSender;
  readonly #receiver: ChannelReceiver;
  readonly #user: ConnectionUser;
  readonly #openedNow = Promise.withResolvers<void>();
  readonly #course: ChannelCourse;
  #transport: TransportKind;
  #connection: ChannelConnection | undefined;
  // What this end waits for on its connection before the channel is open; the greeting is what the other end said.
  #awaits: 'welcome' | 'acknowledgement' | undefined;
  #peer: Greeting | undefined;
  #exchange: HelloExchange | undefined;
  // Under which key it proved who it is: the same on every connection.
  #peerKey: string | undefined;
  #wasOpen = false;
  #openSinceMs = 0;
  #isAckDue = false;
  #isAckPlanned = false;
  #cancelDeadline: (() => void) | undefined;
  #cancelHandshake: (() => void) | undefined;
  #lastTrouble = 'nobody answered';
  #closeReason: OrreryError | undefined;
  readonly #released = Promise.withResolvers<void>();

  constructor(identity: ChannelIdentity, transport: TransportKind, deps: ChannelEndDeps) {
    const { clock, settings, report } = deps;
    this.id = identity.channelId;
    this.localAgentId = identity.localAgentId;
    this.remoteAgentId = identity.remoteAgentId;
    this.#transport = transport;
    this.#deps = deps;
    this.opened = this.#openedNow.promise;
    // Whoever does not wait for it hears of the end by events.
    this.opened.catch(() => undefined);
    this.#course = new ChannelCourse(report, {
      dial: () => this.#dial(),
      dialAgain: () => this.#dialNow(),
      resume: () => this.#resume(),
      release: (reason) => this.#release(reason),
    });
    this.#sender = new ChannelSender({ clock, settings, report, channelId: this.id });
    this.#receiver = new ChannelReceiver({
      clock,
      settings,
      report,
      remoteAgentId: this.remoteAgentId,
      onReceived: () => this.#acknowledgeSoon(),
    });
    this.#user = {
      onFrame: (frame, bytes) => this.#onFrame(frame, bytes),
      onFault: (fault, reason) => report({ type: 'frame-skipped', fault, reason }),
      onRoom: () => this.#onRoom(),
      onLost: (reason) => this.#onLost(reason),
    };
  }

  get status(): ChannelStatus {
    return this.#course.status;
  }

  get transport(): TransportKind {
    return this.#transport;
  }

  /** Begins the channel's life. */
  start(): void {
    this.#course.start();
  }

  /** Takes a connection in place of the one it had; or says why not. */
  accept({ connection, hello, challenge, transport, publicKey }: TakenConnection): HelloRefusal | undefined {
    const isOther = hello.from !== this.remoteAgentId || hello.to !== this.localAgentId;
    const isForgetful = this.#wasOpen && !hello.resumes;
    const isStranger = this.#peer !== undefined && publicKey !== this.#peerKey;
    if (isOther || isForgetful || isStranger || !this.#sender.canHaveReceived(hello.received))
      return { code: 'REFUSED', reason: `the channel ${this.id} is another one` };
    const old = this.#connection;
    this.#forgetLine();
    void old?.end();
    if (this.#course.status === 'open')
      this.#course.take('connection.lost', 'the other end came over another connection');
    this.#transport = transport;
    this.#peer = hello;
    this.#peerKey = publicKey;
    const greeting = this.#greeting();
    const challenges = { ofReader: hello.nonce ?? '', ofGiver: challenge };
    const proof = this.#deps.credentials.proveIfAsked(greeting, challenges);
    this.#useConnection(connection, 'acknowledgement', {
      type: 'welcome',
      ...greeting,
      ...(proof && { proof }),
    });
    return undefined;
  }

  async send(envelope: A2AEnvelope, { signal }: ChannelSendOptions = {}): Promise<void> {
    if (this.#course.status === 'closed') throw this.#closedError();
    const most = largestEnvelope(this.id, this.#deps.settings.maxFrameBytes);
    const written = writeEnvelope(envelope, this.localAgentId, most);
    if (signal?.aborted === true) throw cancelled(`Sending ${written.envelopeId}`);
    return this.#sender.send(written, signal);
  }

  onMessage(handler: MessageHandler): () => void {
    return this.#course.status === 'closed' ? () => undefined : this.#receiver.onMessage(handler);
  }

  async close(): Promise<void> {
    if (this.#course.status !== 'closed') this.#course.take('channel.close', 'it was closed here');
    return this.#released.promise;
  }

  #dial(): void {
    const { clock, settings } = this.#deps;
    const [what, timeoutMs] =
      this.#course.status === 'connecting'
        ? (['opened', settings.openTimeoutMs] as const)
        : (['open again', settings.reconnectTimeoutMs] as const);
    this.#cancelDeadline = clock.setTimer(timeoutMs, () =>
      this.#course.take('deadline.passed', `it was not ${what} within ${timeoutMs} ms: ${this.#lastTrouble}`),
    );
    this.#dialNow();
  }

  #dialNow(): void {
    this.#deps.dialer?.dial({
      onConnected: (transport, kind) => this.#onConnected(transport, kind),
      onFailed: (reason) => this.#troubled(reason),
    });
  }

  #onConnected(transport: Connection, kind: TransportKind): void {
    const { clock, settings, credentials } = this.#deps;
    this.#transport = kind;
    const connection = new ChannelConnection(transport, clock, settings, this.#user);
    const exchange = new HelloExchange(
      { resumes: this.#wasOpen, ...this.#greeting() },
      {
        connection,
        credentials,
        identity: { channelId: this.id, localAgentId: this.localAgentId, remoteAgentId: this.remoteAgentId },
        knownKey: this.#peerKey,
        onWelcome: (welcome, publicKey) => this.#welcomed(welcome, publicKey),
        onRefused: (error) => this.#refused(error),
      },
    );
    this.#exchange = exchange;
    this.#useConnection(connection, 'welcome', exchange.hello);
  }

  #useConnection(
    connection: ChannelConnection,
    awaits: 'welcome' | 'acknowledgement',
    greeting: Hello | Welcome,
  ): void {
    const { clock, settings } = this.#deps;
    this.#connection = connection;
    this.#awaits = awaits;
    connection.use(this.id, this.#user);
    void connection.send(frameText(greeting));
    this.#cancelHandshake = clock.setTimer(settings.handshakeTimeoutMs, () =>
      connection.lose(`no ${awaits} within ${settings.handshakeTimeoutMs} ms`),
    );
  }

  #greeting(): Greeting {
    const { windowSize, maxFrameBytes } = this.#deps.settings;
    return {
      version: CHANNEL_PROTOCOL_VERSION,
      channel: this.id,
      from: this.localAgentId,
      to: this.remoteAgentId,
      ...this.#progress(),
      windowSize,
      maxFrameBytes,
    };
  }

  #progress(): Pick<Greeting, 'received' | 'passedOver'> {
    const { received, passedOver } = this.#receiver;
    return passedOver === undefined ? { received } : { received, passedOver };
  }

  #onFrame(frame: ChannelFrame, bytes: number): void {
    if (frame.type === 'close') {
      this.#course.take('peer.closed', 'the other end closed it');
      return;
    }
    if (this.#awaits === 'welcome') this.#exchange?.hear(frame);
    else if (frame.type === 'hello' || frame.type === 'welcome' || frame.type === 'refuse')
      this.#connection?.fault('unexpected', `a ${frame.type} in the middle`);
    else {
      if (this.#awaits === 'acknowledgement') this.#course.take('peer.acknowledged');
      this.#onOpenFrame(frame, bytes);
    }
  }

  #welcomed(welcome: Welcome, publicKey: string | undefined): void {
    if (this.#awaits !== 'welcome') return;
    if (!this.#sender.canHaveReceived(welcome.received)) {
      this.#course.take('peer.refused', 'the other end has lost count');
      return;
    }
    this.#deps.dialer?.answered();
    this.#peer = welcome;
    this.#peerKey = publicKey;
    this.#isAckDue = true;
    this.#course.take('peer.acknowledged');
  }

  #refused(error: OrreryError): void {
    if (this.#deps.dialer?.refused() === false) {
      this.#connection?.lose(error.message);
      return;
    }
    this.#closeReason = error;
    this.#course.take('peer.refused', error.message);
  }

  #onOpenFrame(frame: ChannelFrame, bytes: number): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    switch (frame.type) {
      case 'data': {
        const fault = this.#receiver.take(frame.sequence, frame.envelope, {
          bytes,
          deadlineMs: frame.deadlineMs,
        });
        if (fault !== undefined) connection.fault(fault.fault, fault.reason);
        return;
      }
      case 'ack':
        if (!this.#sender.acknowledged(frame.received, frame.passedOver))
          connection.fault('forged', `an acknowledgement of ${frame.received} envelopes`);
        return;
      case 'withdraw': {
        if (!this.#receiver.withdraw(frame.sequence))
          connection.fault('forged', `a withdrawal of ${frame.sequence}`);
        return;
      }
      case 'ping':
        if (connection.hasRoom()) void connection.send(frameText({ type: 'pong', channel: this.id }));
    }
  }

  #resume(): void {
    const { clock, keeper } = this.#deps;
    this.#cancelDeadline?.();
    this.#cancelHandshake?.();
    this.#awaits = undefined;
    this.#openSinceMs = clock.monotonicMs();
    const isFirst = !this.#wasOpen;
    this.#wasOpen = true;
    this.#connection?.startPulse();
    this.#acknowledge();
    if (this.#connection !== undefined && this.#peer !== undefined)
      this.#sender.begin(this.#connection, this.#peer);
    if (!isFirst) return;
    this.#openedNow.resolve();
    keeper.opened(this);
  }

  /** Acknowledges once for all frames that arrive together. */
  #acknowledgeSoon(): void {
    this.#isAckDue = true;
    if (this.#isAckPlanned) return;
    this.#isAckPlanned = true;
    queueMicrotask(() => {
      this.#isAckPlanned = false;
      this.#acknowledge();
    });
  }

  #acknowledge(): void {
    if (!this.#isAckDue || this.#course.status !== 'open' || this.#connection?.hasRoom() !== true) return;
    this.#isAckDue = false;
    void this.#connection.send(frameText({ type: 'ack', channel: this.id, ...this.#progress() }));
  }

  #onRoom(): void {
    this.#acknowledge();
    this.#sender.pump();
  }

  #onLost(reason: string): void {
    this.#forgetLine();
    this.#troubled(reason);
  }

  #troubled(reason: string): void {
    this.#lastTrouble = reason;
    this.#course.take('connection.lost', reason);
  }

  /** Drops the connection. The next dial is at once only if this one brought progress. */
  #forgetLine(): void {
    const { clock, dialer, settings } = this.#deps;
    const hasProgressed = this.#sender.pause();
    const lastedMs = this.#course.status === 'open' ? clock.monotonicMs() - this.#openSinceMs : 0;
    if (hasProgressed || lastedMs >= settings.heartbeatMs) dialer?.succeeded();
    this.#connection = undefined;
    this.#awaits = undefined;
    this.#cancelHandshake?.();
  }

  #release(reason: string): void {
    this.#cancelDeadline?.();
    this.#deps.dialer?.stop();
    const connection = this.#connection;
    this.#forgetLine();
    this.#closeReason ??= channelClosed(this.id, reason);
    this.#sender.close(reason);
    this.#receiver.close();
    this.#openedNow.reject(this.#closeReason);
    this.#released.resolve(connection?.end(frameText({ type: 'close', channel: this.id })));
    this.#deps.keeper.closed(this);
  }

  /** Always CHANNEL_CLOSED, whatever closed it. */
  #closedError(): OrreryError {
    return channelClosed(this.id, this.#closeReason?.message ?? 'it was closed');
  }
}
