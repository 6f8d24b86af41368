import type { MessagePort } from 'node:worker_threads';
import {
  type Connection,
  connectionLost,
  type Frame,
  frameBytes,
  frameTooLarge,
} from '../../runtime/protocol/transport.ts';
import { LossHandlers } from '../loss-handlers.ts';

/** What crosses beside frames: how many frames were taken since the last signal, or null at the end. */
type Signal = number | null;

interface FrameUnderWay {
  readonly bytes: number;
  readonly settle: (error?: Error) => void;
}

const isSignal = (message: unknown): message is Signal => message === null || typeof message === 'number';

/**
 * One end of a connection over a pair of ports of its own. A frame counts as handed over when the other thread has taken
 * it, so that `bufferedBytes` shows one that does not keep up. Keeps its thread alive while it is open.
 */
export class MessagePortConnection implements Connection {
  readonly maxFrameBytes: number;
  readonly #port: MessagePort;
  readonly #onOver: () => void;
  #bufferedBytes = 0;
  // Given to the port, oldest first, and not taken.
  #underWay: FrameUnderWay[] = [];
  #arrived: Frame[] = [];
  #taken = 0;
  #isTaking = false;
  #isOver = false;
  #onFrame: ((frame: Frame) => void) | undefined;
  readonly #onLost = new LossHandlers();
  #lostBecause: string | undefined;

  constructor(port: MessagePort, maxFrameBytes: number, onOver: () => void) {
    this.maxFrameBytes = maxFrameBytes;
    this.#port = port;
    this.#onOver = onOver;
    port.on('message', (message: Frame | Signal) => this.#hear(message));
    port.on('close', () => this.#endAfterFrames('the thread at the other end is gone'));
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  async send(frame: Frame): Promise<void> {
    const bytes = frameBytes(frame);
    if (bytes > this.maxFrameBytes) throw frameTooLarge(bytes, this.maxFrameBytes);
    if (this.#lostBecause !== undefined) throw connectionLost(this.#lostBecause);
    this.#post(frame);
    this.#bufferedBytes += bytes;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        this.#bufferedBytes -= bytes;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#underWay.push({ bytes, settle });
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

  /** Frames that were posted arrive before the end does, so they count as handed over. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#arrived = [];
    for (const { settle } of this.#underWay.splice(0)) settle();
    if (this.#lostBecause === undefined) this.#port.postMessage(null);
    this.#end('it was closed');
  }

  #post(frame: Frame): void {
    if (typeof frame === 'string') {
      this.#port.postMessage(frame);
      return;
    }
    const own = new Uint8Array(frame);
    this.#port.postMessage(own, [own.buffer]);
  }

  #hear(message: Frame | Signal): void {
    if (this.#isOver) return;
    if (!isSignal(message)) {
      this.#arrived.push(message);
      this.#takeSoon();
    } else if (message === null) this.#endAfterFrames('the other end closed it');
    else for (const { settle } of this.#underWay.splice(0, message)) settle();
  }

  #takeSoon(): void {
    if (this.#isTaking || this.#onFrame === undefined || this.#arrived.length === 0) return;
    this.#isTaking = true;
    queueMicrotask(() => {
      this.#isTaking = false;
      this.#takeAll();
    });
  }

  /** Gives the handler all frames that are here. A frame at which it throws counts as taken, and the next one follows. */
  #takeAll(): void {
    try {
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) this.#onFrame?.(frame);
    } finally {
      this.#tellTaken();
      if (this.#lostBecause !== undefined && this.#arrived.length === 0) this.#end(this.#lostBecause);
      this.#takeSoon();
    }
  }

  #next(): Frame | undefined {
    if (this.#onFrame === undefined) return undefined;
    const frame = this.#arrived.shift();
    if (frame !== undefined) this.#taken += 1;
    return frame;
  }

  #tellTaken(): void {
    if (this.#taken > 0 && this.#lostBecause === undefined) this.#port.postMessage(this.#taken);
    this.#taken = 0;
  }

  /** What the other end sent before it ended still arrives here; what this one sends does not arrive there. */
  #endAfterFrames(reason: string): void {
    if (this.#isOver) return;
    this.#lostBecause ??= reason;
    for (const { settle } of this.#underWay.splice(0)) settle(connectionLost(reason));
    if (this.#arrived.length === 0) this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lostBecause ??= reason;
    this.#port.close();
    this.#onOver();
    this.#tellLost();
  }

  #tellLost(): void {
    this.#onLost.tell(this.#lostBecause ?? 'it was closed');
  }
}
