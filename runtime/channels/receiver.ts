import { type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import type { Clock } from '../protocol/seams.ts';
import type { ChannelEventBody, FrameFault } from './channel-event.ts';
import type { ChannelSettings } from './channel-options.ts';
import { type MessageHandler, MessageHandlers } from './message-handlers.ts';
import { ReceiveWindow } from './receive-window.ts';
import { withDeadline } from './written-envelope.ts';

export interface ReceiverDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: Pick<ChannelSettings, 'windowSize' | 'reorderBytes'>;
  readonly remoteAgentId: string;
  readonly report: (event: ChannelEventBody) => void;
  /** The other end is to be told how much was received. */
  readonly onReceived: () => void;
}

/** Why an envelope that arrived was not kept. */
export interface Fault {
  readonly fault: FrameFault;
  readonly reason: string;
}

/** The receiving half of a channel's end: brings envelopes in order, and gives each to the handlers once. */
export class Receiver {
  readonly #deps: ReceiverDeps;
  readonly #window: ReceiveWindow;
  readonly #handlers: MessageHandlers;
  #isDelivering = false;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
    this.#window = new ReceiveWindow(deps.settings.windowSize, deps.settings.reorderBytes);
    this.#handlers = new MessageHandlers(deps.report);
  }

  get received(): number {
    return this.#window.received;
  }

  get passedOver(): number | undefined {
    return this.#window.passedOver;
  }

  onMessage(handle: MessageHandler): () => void {
    const stop = this.#handlers.add(handle);
    // What waits is not handled inside the call that brings its handler.
    queueMicrotask(() => this.#deliver());
    return stop;
  }

  /** `deadlineMs`: what is left until the envelope's deadline. */
  take(
    sequence: number,
    value: unknown,
    { bytes, deadlineMs }: { readonly bytes: number; readonly deadlineMs?: number | undefined },
  ): Fault | undefined {
    let envelope: A2AEnvelope;
    try {
      envelope = withDeadline(parseEnvelope(value), deadlineMs, this.#deps.clock.now());
    } catch (error) {
      return { fault: 'malformed', reason: (error as Error).message };
    }
    const { remoteAgentId, onReceived } = this.#deps;
    if (envelope.sender !== remoteAgentId)
      return { fault: 'forged', reason: `an envelope of "${envelope.sender}"` };
    switch (this.#window.keep(sequence, envelope, bytes)) {
      case 'known':
        onReceived();
        return undefined;
      case 'outside':
        return { fault: 'forged', reason: `the sequence ${sequence} is outside the window` };
      case 'overflow':
        return { fault: 'overflow', reason: `no room for ${bytes} bytes out of order` };
      case 'kept':
        this.#deliver();
        return undefined;
    }
  }

  /** Passes an envelope over, unless it was delivered before; false for one that cannot be meant. */
  withdraw(sequence: number): boolean {
    if (!this.#window.withdraw(sequence)) return false;
    this.#deps.onReceived();
    this.#deliver();
    return true;
  }

  close(): void {
    this.#handlers.clear();
    this.#window.clear();
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    while (this.#handlers.size > 0) {
      const envelope = this.#window.take();
      if (envelope === undefined) break;
      this.#deps.onReceived();
      void this.#handlers.call(envelope, undefined);
    }
    this.#isDelivering = false;
  }
}
