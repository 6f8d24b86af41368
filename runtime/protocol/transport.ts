import type { AgentEndpoint } from './agent-card.ts';
import { OrreryError } from './errors.ts';

/** How frames travel; an agent's endpoints use the same names. */
export type TransportKind = AgentEndpoint['transport'];

/** A frame of a transport: text or bytes, always whole. Text arrives as text. */
export type Frame = string | Uint8Array;

/**
 * One end of a connection. Frames arrive whole, in order, and each at most once; they are lost only together with the
 * connection. A connection may die without either end noticing: to know, ask the other end.
 *
 * - `maxFrameBytes` the largest frame that it carries, in bytes (UTF-8 for text).
 * - `bufferedBytes` of the frames whose `send` has not settled; a sender waits while it is high.
 */
export interface Connection {
  readonly maxFrameBytes: number;
  readonly bufferedBytes: number;

  /**
   * Sends a frame. Resolves when it is handed over to the carrier, which does not mean that it arrived.
   *
   * Rejects with DELIVERY_FAILED when the connection is lost or closed before, and for a frame that is too large; the
   * latter leaves the connection as it is.
   */
  send(frame: Frame): Promise<void>;

  /**
   * Calls `handler` with each frame that arrives, until the returned function is called. There is one handler at a time:
   * another one takes its place. Frames that come while there is none are kept for the next, and it is never called
   * within this call.
   */
  onFrame(handler: (frame: Frame) => void): () => void;

  /**
   * Calls `handler` once, when the connection is over, whoever ended it; after the last frame, and never within this
   * call. A connection that is over already calls it too.
   */
  onLost(handler: (reason: string) => void): () => void;

  /** Ends the connection for both ends once what `send` was given is on its way. May be called again. */
  close(): Promise<void>;
}

/** A transport that takes connections. `address` is what others connect to. */
export interface Listener {
  readonly address: string;

  /** Takes no more connections; those that are open stay. May be called again. */
  close(): Promise<void>;
}

/**
 * How another thread makes the same transport: by what `make` of `module` makes of `options`, which are plain data.
 *
 * @example { module: 'file:///app/websocket.js', make: 'webSocket', options: { port: 7400 } }
 */
export interface TransportSpec {
  readonly module: string;
  readonly make: string;
  readonly options: unknown;
}

/** Carries frames between two ends, and knows nothing of agents, channels or envelopes. */
export interface Transport {
  readonly kind: TransportKind;

  /** The largest frame that it carries, in bytes. */
  readonly maxFrameBytes: number;

  /** A system that speaks with other nodes makes its transports in a thread of its own. @default it stays in this one */
  readonly spec?: TransportSpec;

  /**
   * Rejects with DELIVERY_FAILED when nobody takes connections at `address`, and CANCELLED when `signal` aborts first;
   * then nothing of the attempt is left.
   */
  connect(address: string, options?: { readonly signal?: AbortSignal }): Promise<Connection>;

  /** Calls `onConnection` with each connection that somebody opens. Where it listens was said when it was made. */
  listen(onConnection: (connection: Connection) => void): Promise<Listener>;
}

/** A topic that a transport has joined. */
export interface Topic {
  readonly name: string;

  /** Why the last announcement or search failed, if it did. Both are tried again. */
  readonly trouble: string | undefined;

  /**
   * Announces this end no more, and searches no more. Afterwards the topic may be joined again. Channels and connections stay.
   * How long others may still find this end is said by the transport. May be called again.
   */
  leave(): Promise<void>;
}

/**
 * A transport whose ends find each other by a topic, a name that they agree on. Whoever knows the name can join: a topic says
 * where to look, and nothing of whom to trust.
 */
export interface TopicTransport extends Transport {
  /** Whether this one was made to join topics. */
  readonly canJoin: boolean;

  /**
   * Announces this end under the topic, and searches for others from now on. Resolves after the first announcement, also when it
   * failed: then `trouble` says why. Closing the listener leaves the topic too.
   *
   * `onFound` is called with what `connect` takes: with each other end once, and again when it was found after a connection to it
   * was lost or could not be opened, or after it was not there for some time. It may be called before `join` resolves, and for an
   * end to which there is a connection already; both ends may find each other at once. It is never called with the own address.
   *
   * What is found is the word of strangers. Only so many ends are remembered as the transport's options say; while there are
   * so many, others are passed over.
   *
   * Fails with INVALID_OPTIONS for a topic that is no text of 1 to 256 characters or is joined already, and while the transport
   * does not listen.
   */
  join(topic: string, onFound: (address: string) => void): Promise<Topic>;
}

/** Whether a transport finds other ends by a topic. */
export const canJoin = (transport: Transport): transport is TopicTransport =>
  (transport as Partial<TopicTransport>).canJoin === true;

/** The size of a frame on its way. */
export const frameBytes = (frame: Frame): number =>
  typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength;

export const connectionLost = (reason: string): OrreryError =>
  new OrreryError('DELIVERY_FAILED', `The connection is lost: ${reason}`, { details: { reason } });

export const unreachable = (address: string, reason: string, cause?: unknown): OrreryError =>
  new OrreryError('DELIVERY_FAILED', `Nothing can be reached at "${address}": ${reason}`, {
    details: { address, reason },
    cause,
  });

export const frameTooLarge = (bytes: number, maxFrameBytes: number): OrreryError =>
  new OrreryError('DELIVERY_FAILED', `A frame of ${bytes} bytes is too large, at most ${maxFrameBytes}`, {
    details: { bytes, maxFrameBytes },
  });
