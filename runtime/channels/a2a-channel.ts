import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { TransportKind } from '../protocol/transport.ts';

/** `signal` takes back an envelope that still waits for room; one that is on its way stays on it. */
export interface ChannelSendOptions {
  readonly signal?: AbortSignal;
}

/**
 * One end of a link between two agents (seed 1): envelopes arrive at the other end in the order of `send`, each once.
 *
 * - `id`        the same at both ends.
 * - `transport` what carries it now, or did last.
 */
export interface A2AChannel {
  readonly id: string;
  readonly localAgentId: string;
  readonly remoteAgentId: string;
  readonly status: ChannelStatus;
  readonly transport: TransportKind;

  /**
   * Resolves when a handler at the other end has been called with the envelope. Waits while the send window is full, and
   * while the channel is not open. The envelope is read at once; its payload belongs to the channel from then on.
   *
   * Rejects with
   * - CHANNEL_CLOSED      the channel is closed, or was before the outcome was known; `details.mayHaveArrived` says
   *                       whether the envelope may have arrived all the same.
   * - DELIVERY_FAILED     not acknowledged after all retries. It was not delivered and will not be; later ones are. Between
   *                       agents of a system: the other one died over it; then `details.mayHaveArrived` is true.
   * - MAILBOX_FULL        too many envelopes wait already.
   * - INVALID_ENVELOPE, SCHEMA_VERSION_MISMATCH, NOT_SERIALISABLE  it is no envelope of the local agent that can cross.
   * - CANCELLED           `signal` aborted while it waited.
   * - RATE_LIMITED        the other agent takes nothing more of the caller outside on whose behalf it is sent;
   *                       `details.retryAfterMs` says for how long.
   * - TIER_VIOLATION, SANDBOX_VIOLATION, ...  a rule refuses it; between agents of a system.
   */
  send(envelope: A2AEnvelope, options?: ChannelSendOptions): Promise<void>;

  /**
   * Calls `handler` with each envelope, until the returned function is called. What comes while there is no handler waits
   * for one, unacknowledged, so its sender may give it up. With several handlers each is called; one that throws is
   * reported, and its envelope counts as delivered.
   */
  onMessage(handler: (envelope: A2AEnvelope) => void): () => void;

  /**
   * Closes both ends at once: what is not acknowledged is rejected with CHANNEL_CLOSED. Resolves when nothing of this end
   * is left; may be called again.
   */
  close(): Promise<void>;
}
