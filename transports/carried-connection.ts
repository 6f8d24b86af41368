import type { Clock } from '../runtime/protocol/seams.ts';
import {
  type Connection,
  connectionLost,
  type Frame,
  frameBytes,
  frameTooLarge,
} from '../runtime/protocol/transport.ts';
import { LoopTurn } from './loop-turn.ts';
import { LossHandlers } from './loss-handlers.ts';

/** Frames are read ahead of a handler up to so many bytes; then the carrier is told to stop reading. */
const READ_AHEAD_BYTES = 65_536;
/** What a frame that waits costs beside its bytes. */
const FRAME_COST_BYTES = 64;
/** How long an end that closes waits for the other one, milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Of this thread. */
const turn = new LoopTurn();

/** What a carrier tells its connection. Nothing is told after `over`. */
export interface CarrierUser {
  /** A frame is here. It shares no memory with what was received. */
  arrive(frame: Frame, bytes: number): void;
  /** Nothing more arrives, and nothing more can be sent. */
  over(reason: string): void;
}

/** What takes whole frames over a network: a WebSocket, or a stream of bytes. */
export interface Carrier {
  /**
   * Takes the frame within this call; its bytes may change afterwards. Calls `settle` once when it is handed over. What is not
   * settled when the carrier is over counts as lost.
   */
  send(frame: Frame, settle: () => void): void;
  /** Reads no more, so that the writer at the other end has to stop. */
  pause(): void;
  resume(): void;
  /** Ends for both once what was sent is on its way; then it is over. */
  end(): void;
  /** Is over at once. */
  destroy(): void;
}

/**
 * - `maxFrameBytes` the largest frame that is carried.
 * - `remoteKey`     the public key that the other end has proved, where the carrier knows it.
 * - `onOver`        called once, when the connection is over.
 */
export interface CarriedConnectionDeps {
  readonly maxFrameBytes: number;
  readonly clock: Clock;
  readonly remoteKey?: () => string;
  onOver(connection: CarriedConnection): void;
}

/**
 * One end of a connection over a network.
 *
 * Back-pressure goes from end to end. Without a handler this end reads a little ahead, then stops; the `bufferedBytes` of the
 * other end grow once what lies between both is full. So it is too with more frames than there is time for: an end that sends
 * what takes long holds up itself, and not the thread.
 */
export class CarriedConnection implements Connection {
  readonly maxFrameBytes: number;
  readonly #carrier: Carrier;
  readonly #deps: CarriedConnectionDeps;
  readonly #onLost = new LossHandlers();
  readonly #unsettled = new Set<(error?: Error) => void>();
  #bufferedBytes = 0;
  #arrived: { readonly frame: Frame; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isTaking = false;
  #isWaitingForTurn = false;
  #onFrame: ((frame: Frame) => void) | undefined;
  #lostBecause: string | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;
  #closed: (() => void) | undefined;

  constructor(open: (user: CarrierUser) => Carrier, deps: CarriedConnectionDeps) {
    this.maxFrameBytes = deps.maxFrameBytes;
    this.#deps = deps;
    this.#carrier = open({
      arrive: (frame, bytes) => this.#arrive(frame, bytes),
      over: (reason) => this.#endAfterFrames(reason),
    });
  }

  /** The public key that the other end has proved to have, in hexadecimal; undefined where the transport knows none. */
  get remoteKey(): string | undefined {
    return this.#deps.remoteKey?.();
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  async send(frame: Frame): Promise<void> {
    const bytes = frameBytes(frame);
    if (bytes > this.maxFrameBytes) throw frameTooLarge(bytes, this.maxFrameBytes);
    if (this.#lostBecause !== undefined) throw connectionLost(this.#lostBecause);
    this.#bufferedBytes += bytes;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (!this.#unsettled.delete(settle)) return;
        this.#bufferedBytes -= bytes;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#unsettled.add(settle);
      this.#carrier.send(frame, settle);
    });
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
    if (this.#isOver) this.#tellLost();
    return takeBack;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the connection at once, whatever is on its way. */
  destroy(): void {
    this.#arrived = [];
    this.#lostBecause ??= 'it was closed';
    this.#carrier.destroy();
  }

  async #close(): Promise<void> {
    this.#arrived = [];
    const isCarried = this.#lostBecause === undefined;
    this.#lostBecause ??= 'it was closed';
    if (!isCarried) this.#end();
    if (this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
      const cancel = this.#deps.clock.setTimer(CLOSE_TIMEOUT_MS, () => this.#carrier.destroy());
      this.#onLost.add(cancel);
      // What the other end still sends stands before its end.
      this.#carrier.resume();
      this.#carrier.end();
    });
  }

  #arrive(frame: Frame, bytes: number): void {
    if (this.#lostBecause !== undefined) return;
    this.#arrived.push({ frame, bytes });
    this.#waitingBytes += bytes + FRAME_COST_BYTES;
    if (this.#onFrame !== undefined && !this.#isWaitingForTurn) this.#takeSoon();
    else this.#readNoMore();
  }

  #takeSoon(): void {
    if (this.#isTaking || this.#isWaitingForTurn) return;
    if (this.#onFrame === undefined || this.#arrived.length === 0) return;
    this.#isTaking = true;
    queueMicrotask(() => {
      this.#isTaking = false;
      this.#takeAll();
    });
  }

  /**
   * Gives the handler the frames that are here, while there is time; `atLeast` so many. A frame at which it throws counts as
   * taken, and the next one follows.
   */
  #takeAll(atLeast = 0): void {
    const frames = this.#arrived;
    const { clock } = this.#deps;
    let taken = 0;
    try {
      while (this.#onFrame !== undefined && taken < frames.length && frames === this.#arrived) {
        if (taken >= atLeast && turn.isOver(clock)) {
          this.#takeNextTurn();
          break;
        }
        const { frame, bytes } = frames[taken++] as { frame: Frame; bytes: number };
        this.#waitingBytes -= bytes + FRAME_COST_BYTES;
        this.#onFrame(frame);
      }
    } finally {
      if (frames === this.#arrived) frames.splice(0, taken);
      this.#readOn();
      if (this.#lostBecause !== undefined && this.#closing === undefined && this.#arrived.length === 0)
        this.#end();
      this.#takeSoon();
    }
  }

  /** However much others take of it, one frame is taken then. */
  #takeNextTurn(): void {
    this.#isWaitingForTurn = true;
    this.#deps.clock.setTimer(0, () => {
      this.#isWaitingForTurn = false;
      if (this.#arrived.length > 0 && this.#onFrame !== undefined) this.#takeAll(1);
    });
    this.#readNoMore();
  }

  #readNoMore(): void {
    if (this.#isPaused || this.#waitingBytes < READ_AHEAD_BYTES) return;
    this.#isPaused = true;
    this.#carrier.pause();
  }

  #readOn(): void {
    if (!this.#isPaused || this.#waitingBytes >= READ_AHEAD_BYTES) return;
    this.#isPaused = false;
    this.#carrier.resume();
  }

  /** What the other end sent before it ended still arrives here; what this one sends does not arrive there. */
  #endAfterFrames(reason: string): void {
    this.#lostBecause ??= reason;
    for (const settle of [...this.#unsettled]) settle(connectionLost(this.#lostBecause));
    if (this.#arrived.length === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.onOver(this);
    this.#tellLost();
    this.#closed?.();
  }

  #tellLost(): void {
    this.#onLost.tell(this.#lostBecause ?? 'it was closed');
  }
}
