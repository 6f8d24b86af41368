import { type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import type { Clock } from '../protocol/seams.ts';
import type { ChannelEventBody, FrameFault } from './channel-event.ts';
import type { ChannelSettings } from './channel-options.ts';
import { type MessageHandler, MessageHandlers } from './message-handlers.ts';
import { withDeadline } from './written-envelope.ts';

export interface ChannelReceiverDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: Pick<ChannelSettings, 'windowSize' | 'reorderBytes'>;
  readonly remoteAgentId: string;
  readonly report: (event: ChannelEventBody) => void;
  /** Called when an acknowledgement is due. */
  readonly onReceived: () => void;
}

/** Why an envelope was not taken. */
export interface Fault {
  readonly fault: FrameFault;
  readonly reason: string;
}

/** The receiving half of a channel's end: brings envelopes in order, and gives each to the handlers once. */
export class ChannelReceiver {
  readonly #deps: ChannelReceiverDeps;
  readonly #window: ReceiveWindow;
  readonly #handlers: MessageHandlers;
  #isDelivering = false;

  constructor(deps: ChannelReceiverDeps) {
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
    // Later, and not within the call that adds the handler.
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

/** `known`: it was here before. `outside`: no honest sender is that far. `overflow`: no room now; it is sent again. */
type Kept = 'kept' | 'known' | 'outside' | 'overflow';

/** What one end has taken from the other: which envelope is next, and those that came before their turn. */
export class ReceiveWindow {
  readonly #size: number;
  readonly #maxBytes: number;
  #received = 0;
  #passedOver: number | undefined;
  #bytes = 0;
  readonly #kept = new Map<number, { readonly envelope: A2AEnvelope; readonly bytes: number }>();

  constructor(size: number, maxBytes: number) {
    this.#size = size;
    this.#maxBytes = maxBytes;
  }

  /** How many have been taken or passed over, which is the sequence of the next. */
  get received(): number {
    return this.#received;
  }

  /** The last that was passed over. A sender withdraws only its oldest and waits for the answer, so it needs no other. */
  get passedOver(): number | undefined {
    return this.#passedOver;
  }

  keep(sequence: number, envelope: A2AEnvelope, bytes: number): Kept {
    if (sequence < this.#received || this.#kept.has(sequence)) return 'known';
    if (sequence >= this.#received + this.#size) return 'outside';
    // The next one always has room: without it nothing moves.
    if (sequence > this.#received && this.#bytes + bytes > this.#maxBytes) return 'overflow';
    this.#kept.set(sequence, { envelope, bytes });
    this.#bytes += bytes;
    return 'kept';
  }

  /** The next envelope if it is here; it counts as received. */
  take(): A2AEnvelope | undefined {
    const next = this.#drop(this.#received);
    if (next === undefined) return undefined;
    this.#received += 1;
    return next.envelope;
  }

  /** Passes `sequence` over, unless it was taken before; false for one whose turn it is not yet. */
  withdraw(sequence: number): boolean {
    if (sequence > this.#received) return false;
    if (sequence < this.#received) return true;
    this.#drop(sequence);
    this.#passedOver = sequence;
    this.#received += 1;
    return true;
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #drop(sequence: number): { readonly envelope: A2AEnvelope } | undefined {
    const kept = this.#kept.get(sequence);
    if (kept === undefined) return undefined;
    this.#kept.delete(sequence);
    this.#bytes -= kept.bytes;
    return kept;
  }
}
