import { cancelled, channelClosed, deliveryFailed, mailboxFull } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { ChannelEventBody } from './channel-event.ts';
import { dataFrameText, frameText, largestEnvelope, type Welcome } from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';
import type { ChannelConnection } from './channel-connection.ts';
import { type Delivery, SendWindow } from './send-window.ts';
import type { WrittenEnvelope } from './written-envelope.ts';

export interface ChannelSenderDeps {
  readonly clock: Clock;
  readonly settings: ChannelSettings;
  readonly channelId: string;
  readonly report: (event: ChannelEventBody) => void;
}

/** After so many connections that were lost without progress, the oldest envelope is thought to break them. */
const MAX_LOSSES = 3;

/**
 * The sending half of a channel's end.
 *
 * Only the oldest unacknowledged envelope is sent again, because the other end keeps what comes after it. Each wait is at
 * least twice the one before; after the last one the envelope is given up, unless nothing at all was heard meanwhile: then
 * it is the connection that fails. Giving up is a question: the other end answers whether it had taken the envelope, and
 * if not, passes it over for good. So DELIVERY_FAILED is certain, and order holds.
 */
export class ChannelSender {
  readonly #deps: ChannelSenderDeps;
  readonly #window: SendWindow;
  #connection: ChannelConnection | undefined;
  #largest = Number.POSITIVE_INFINITY;
  #hasProgressed = false;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: ChannelSenderDeps) {
    const { windowSize, waitingCapacity } = deps.settings;
    this.#deps = deps;
    this.#window = new SendWindow(windowSize, waitingCapacity);
  }

  /** Resolves when it was acknowledged. Fails as `A2AChannel.send` does. */
  send(written: WrittenEnvelope, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        if (this.#window.takeBack(delivery)) delivery.settle(cancelled(`Sending ${written.envelopeId}`));
      };
      const delivery: Delivery = {
        ...written,
        settle: (error) => {
          signal?.removeEventListener('abort', abort);
          if (error === undefined) resolve();
          else reject(error);
        },
        sequence: -1,
        retries: 0,
        delayMs: this.#deps.settings.retryDelayMs,
        losses: 0,
        givenUpBecause: undefined,
        isHandedOver: false,
        givenAtMs: 0,
        isAskedAfter: false,
      };
      if (!this.#window.add(delivery)) {
        const { channelId, settings } = this.#deps;
        reject(mailboxFull(`the channel ${channelId}`, settings.waitingCapacity));
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      this.pump();
    });
  }

  /** Says whether the other end can have received so many. */
  canHaveReceived(received: number): boolean {
    return this.#window.canHaveReceived(received);
  }

  /** Goes on over another connection, from where the other end left off. */
  begin(connection: ChannelConnection, peer: Omit<Welcome, 'type'>): void {
    const { channelId, settings } = this.#deps;
    this.#connection = connection;
    this.#hasProgressed = false;
    this.#largest = largestEnvelope(channelId, Math.min(peer.maxFrameBytes, connection.maxFrameBytes));
    this.#settle(this.#window.acknowledge(peer.received), peer.passedOver);
    this.#window.beginAgain(Math.min(settings.windowSize, peer.windowSize));
    const { head } = this.#window;
    if (head !== undefined) {
      head.delayMs = settings.retryDelayMs;
      if (head.losses > MAX_LOSSES) head.givenUpBecause ??= `${head.losses} connections were lost over it`;
    }
    this.pump();
  }

  /** Pauses when the connection is lost. Says whether anything was acknowledged over it. */
  pause(): boolean {
    const { head, isHeadGiven } = this.#window;
    if (this.#connection !== undefined && !this.#hasProgressed && head !== undefined && isHeadGiven)
      head.losses += 1;
    this.#connection = undefined;
    this.#cancelRetry?.();
    return this.#hasProgressed;
  }

  /** Sends as much as the connection has room for. */
  pump(): void {
    const connection = this.#connection;
    while (connection?.hasRoom() === true) {
      const delivery = this.#window.next();
      if (delivery === undefined) return;
      this.#give(delivery);
    }
  }

  /** Handles an acknowledgement; false for one of what was never sent. */
  acknowledged(received: number, passedOver: number | undefined): boolean {
    // Fewer than before is a frame that is late.
    if (received < this.#window.acknowledged) return true;
    if (!this.#window.canHaveReceived(received)) return false;
    const settled = this.#window.acknowledge(received);
    if (settled.length === 0) return true;
    this.#hasProgressed = true;
    this.#settle(settled, passedOver);
    this.#headChanged();
    return true;
  }

  /** Rejects everything with CHANNEL_CLOSED. */
  close(reason: string): void {
    this.pause();
    const { channelId } = this.#deps;
    const { unsettled, waiting } = this.#window.clear();
    for (const delivery of unsettled) delivery.settle(channelClosed(channelId, reason, true));
    for (const delivery of waiting) delivery.settle(channelClosed(channelId, reason, false));
  }

  #settle(settled: readonly Delivery[], passedOver: number | undefined): void {
    for (const delivery of settled) {
      if (delivery.sequence === passedOver) this.#fail(delivery);
      else delivery.settle();
    }
  }

  #fail({ envelopeId, givenUpBecause: reason = 'it was given up', settle }: Delivery): void {
    const { channelId, report } = this.#deps;
    report({ type: 'delivery-failed', errorCode: 'DELIVERY_FAILED', envelopeId, reason });
    settle(deliveryFailed(envelopeId, `the channel ${channelId}`, reason));
  }

  #headChanged(): void {
    const { head } = this.#window;
    if (head !== undefined && head.sequence >= 0 && head.bytes > this.#largest) this.#give(head);
    else this.#armRetry();
    this.pump();
  }

  #give(delivery: Delivery): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    if (delivery.bytes > this.#largest && delivery.givenUpBecause === undefined) {
      // Only the oldest blocks others, and only the oldest can be given up.
      if (delivery !== this.#window.head) return;
      delivery.givenUpBecause = `its ${delivery.bytes} bytes are more than the other end takes`;
    }
    delivery.isHandedOver = false;
    delivery.givenAtMs = this.#deps.clock.monotonicMs();
    void connection.send(this.#textOf(delivery)).then((isHandedOver) => {
      if (!isHandedOver || connection !== this.#connection) return;
      delivery.isHandedOver = true;
      if (delivery === this.#window.head) this.#armRetry();
    });
  }

  #textOf({ sequence, json, deadlineAtMs, givenUpBecause }: Delivery): string {
    const { channelId, clock } = this.#deps;
    if (givenUpBecause === undefined) {
      const leftMs = deadlineAtMs === undefined ? undefined : deadlineAtMs - clock.now();
      return dataFrameText(channelId, sequence, json, leftMs);
    }
    return frameText({ type: 'withdraw', channel: channelId, sequence });
  }

  /** Starts the retry timer of the oldest envelope, once the connection has it. */
  #armRetry(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    const { head } = this.#window;
    if (head?.isHandedOver !== true || this.#connection === undefined) return;
    const { clock } = this.#deps;
    const fromMs = clock.monotonicMs();
    this.#cancelRetry = clock.setTimer(head.delayMs, () => this.#retry(head, clock.monotonicMs() - fromMs));
  }

  #retry(head: Delivery, waitedMs: number): void {
    this.#cancelRetry = undefined;
    const connection = this.#connection;
    if (connection === undefined) return;
    const isSilent = connection.heardAtMs < head.givenAtMs;
    // A timer that fired late must not make the next wait less than twice as long.
    head.delayMs = 2 * Math.max(head.delayMs, waitedMs);
    if (head.retries < this.#deps.settings.maxRetries) this.#giveAgain(head, connection, waitedMs);
    else if (head.givenUpBecause === undefined && !isSilent) this.#giveUp(head);
    else if (head.givenUpBecause === undefined && !head.isAskedAfter) this.#askAfter(head, connection);
    else connection.lose('the other end does not answer');
  }

  #giveAgain(head: Delivery, connection: ChannelConnection, waitedMs: number): void {
    head.retries += 1;
    const { envelopeId, retries, givenUpBecause } = head;
    if (givenUpBecause === undefined)
      this.#deps.report({ type: 'delivery-retried', envelopeId, retry: retries, delayMs: waitedMs });
    this.#give(head);
    if (retries === this.#deps.settings.maxRetries) this.#askAfter(head, connection);
  }

  /** Asks whether the other end is there, before the envelope is given up. */
  #askAfter(head: Delivery, connection: ChannelConnection): void {
    head.isAskedAfter = true;
    connection.ask();
    this.#armRetry();
  }

  #giveUp(head: Delivery): void {
    const { maxRetries, retryDelayMs } = this.#deps.settings;
    head.givenUpBecause = `it was not acknowledged after ${maxRetries} retries`;
    head.retries = 0;
    head.delayMs = retryDelayMs;
    this.#give(head);
  }
}
