import { cancelled, invalidOptions } from '../../runtime/protocol/errors.ts';
import {
  type Connection,
  connectionLost,
  type Frame,
  frameBytes,
  frameTooLarge,
  type Listener,
  type Transport,
  unreachable,
} from '../../runtime/protocol/transport.ts';
import { LossHandlers } from '../loss-handlers.ts';

const MAX_FRAME_BYTES = 1_048_576;

/** `maxFrameBytes` the largest frame that is carried. @default 1_048_576 */
export interface LocalNetworkOptions {
  readonly maxFrameBytes?: number;
}

/**
 * What local transports meet on: addresses in the memory of one thread.
 *
 * Every manager gets its own `transport(address)` of the network that they share.
 */
export class LocalNetwork {
  readonly maxFrameBytes: number;
  readonly #listeners = new Map<string, (connection: Connection) => void>();
  readonly #ends = new Set<LocalConnection>();

  constructor({ maxFrameBytes = MAX_FRAME_BYTES }: LocalNetworkOptions = {}) {
    if (!Number.isInteger(maxFrameBytes) || maxFrameBytes < 1)
      throw invalidOptions('network.maxFrameBytes', maxFrameBytes, 'a positive integer');
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Open ends of connections, two for each connection. */
  get openEnds(): number {
    return this.#ends.size;
  }

  /** Addresses that are listened on. */
  get openListeners(): number {
    return this.#listeners.size;
  }

  /** The transport of one manager, which listens at `address`. An endpoint without an address has ''. */
  transport(address = ''): Transport {
    return {
      kind: 'local',
      maxFrameBytes: this.maxFrameBytes,
      connect: (to, options) => this.#connect(to, options?.signal),
      listen: (onConnection) => this.#listen(address, onConnection),
    };
  }

  async #listen(address: string, onConnection: (connection: Connection) => void): Promise<Listener> {
    if (this.#listeners.has(address))
      throw invalidOptions('network.address', address, 'an address at which nobody listens yet');
    this.#listeners.set(address, onConnection);
    return {
      address,
      close: async () => {
        if (this.#listeners.get(address) === onConnection) this.#listeners.delete(address);
      },
    };
  }

  async #connect(address: string, signal?: AbortSignal): Promise<Connection> {
    // Nobody is connected within the call that asks for it.
    await undefined;
    if (signal?.aborted === true) throw cancelled(`Connecting to "${address}"`);
    const onConnection = this.#listeners.get(address);
    if (onConnection === undefined) throw unreachable(address, 'nobody listens there');
    const over = (end: LocalConnection) => this.#ends.delete(end);
    const near = new LocalConnection(this.maxFrameBytes, over);
    const far = new LocalConnection(this.maxFrameBytes, over);
    near.peer = far;
    far.peer = near;
    this.#ends.add(near).add(far);
    onConnection(far);
    return near;
  }
}

interface FrameUnderWay {
  readonly frame: Frame;
  readonly bytes: number;
  readonly handedOver: () => void;
  readonly lost: (error: Error) => void;
}

/** One of two ends that give each other frames in microtasks. */
class LocalConnection implements Connection {
  readonly maxFrameBytes: number;
  peer: LocalConnection | undefined;
  readonly #over: (end: LocalConnection) => void;
  #bufferedBytes = 0;
  // What the other end sent and this one has not taken. A frame a microtask at the most, so that nobody is overtaken.
  #incoming: FrameUnderWay[] = [];
  #isTaking = false;
  #onFrame: ((frame: Frame) => void) | undefined;
  readonly #onLost = new LossHandlers();
  #lostBecause: string | undefined;

  constructor(maxFrameBytes: number, over: (end: LocalConnection) => void) {
    this.maxFrameBytes = maxFrameBytes;
    this.#over = over;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  async send(frame: Frame): Promise<void> {
    const bytes = frameBytes(frame);
    if (bytes > this.maxFrameBytes) throw frameTooLarge(bytes, this.maxFrameBytes);
    const { peer } = this;
    if (peer === undefined || this.#lostBecause !== undefined)
      throw connectionLost(this.#lostBecause ?? 'it was closed');
    const own = typeof frame === 'string' ? frame : frame.slice();
    this.#bufferedBytes += bytes;
    try {
      await new Promise<void>((handedOver, lost) => peer.#arrive({ frame: own, bytes, handedOver, lost }));
    } finally {
      this.#bufferedBytes -= bytes;
    }
  }

  onFrame(handler: (frame: Frame) => void): () => void {
    this.#onFrame = handler;
    this.#takeSoon();
    return () => {
      if (this.#onFrame === handler) this.#onFrame = undefined;
    };
  }

  onLost(handler: (reason: string) => void): () => void {
    const takeBack = this.#onLost.add(handler);
    if (this.#lostBecause !== undefined && this.peer === undefined) this.#tellLost();
    return takeBack;
  }

  async close(): Promise<void> {
    const { peer } = this;
    if (peer === undefined) return;
    this.#end('it was closed');
    peer.#endAfterFrames('the other end closed it');
  }

  #arrive(under: FrameUnderWay): void {
    if (this.#lostBecause !== undefined) {
      under.lost(connectionLost(this.#lostBecause));
      return;
    }
    this.#incoming.push(under);
    this.#takeSoon();
  }

  #takeSoon(): void {
    if (this.#isTaking || this.#onFrame === undefined || this.#incoming.length === 0) return;
    this.#isTaking = true;
    queueMicrotask(() => {
      this.#isTaking = false;
      this.#takeOne();
    });
  }

  #takeOne(): void {
    const handler = this.#onFrame;
    if (handler === undefined) return;
    const next = this.#incoming.shift();
    if (next === undefined) return;
    next.handedOver();
    try {
      handler(next.frame);
    } finally {
      if (this.#lostBecause !== undefined && this.#incoming.length === 0) this.#end(this.#lostBecause);
      this.#takeSoon();
    }
  }

  /** What the other end sent before it closed still arrives here. */
  #endAfterFrames(reason: string): void {
    this.#lostBecause ??= reason;
    if (this.#incoming.length === 0) this.#end(reason);
  }

  #end(reason: string): void {
    if (this.peer === undefined) return;
    this.peer = undefined;
    this.#lostBecause ??= reason;
    for (const { lost } of this.#incoming.splice(0)) lost(connectionLost(reason));
    this.#over(this);
    this.#tellLost();
  }

  #tellLost(): void {
    this.#onLost.tell(this.#lostBecause ?? 'it was closed');
  }
}
