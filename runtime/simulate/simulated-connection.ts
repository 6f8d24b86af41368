import {
  type Connection,
  connectionLost,
  type Frame,
  frameBytes,
  frameTooLarge,
} from '../protocol/transport.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** The largest frame. */
export const MAX_FRAME_BYTES = 1_048_576;
/** Bytes that one way of a connection holds; a sender waits beyond that. */
const BUFFER_BYTES = 65_536;

/** Where an end of a connection is. */
export interface EndPlace {
  readonly node: string;
  readonly thread: VirtualThread;
}

/** What a connection is carried by. */
export interface Carrier {
  readonly scheduler: Scheduler;
  /** The time of a frame, virtual milliseconds. */
  readonly delayMs: () => number;
  /** Whether anything gets from one node to the other at the moment. */
  readonly isOpen: (from: string, to: string) => boolean;
  /** Called before each frame is sent; may cut the connection. */
  readonly onSend: (end: SimulatedConnection) => void;
  readonly counts: { frames: number; lost: number };
  readonly onOver: (end: SimulatedConnection) => void;
}

/** A frame under way, or the end of all frames. */
interface UnderWay {
  readonly frame: Frame | undefined;
  readonly bytes: number;
  readonly earliestMs: number;
  readonly reason: string;
}

interface WaitingFrame {
  readonly frame: Frame;
  readonly bytes: number;
  readonly handedOver: () => void;
  readonly lost: (error: Error) => void;
}

/** One end of a connection between two nodes, as TCP: frames keep their order, and take time. */
export class SimulatedConnection implements Connection {
  readonly maxFrameBytes = MAX_FRAME_BYTES;
  readonly place: EndPlace;
  peer: SimulatedConnection | undefined;
  readonly #carrier: Carrier;
  /** Frames that wait for room. */
  readonly #waiting: WaitingFrame[] = [];
  /** Frames on their way to this end, in order. */
  readonly #incoming: UnderWay[] = [];
  /** Frames that have arrived, and that nobody has taken yet. */
  readonly #arrived: Frame[] = [];
  #bufferedBytes = 0;
  #incomingBytes = 0;
  #latestMs = 0;
  #isPlanned = false;
  #onFrame: ((frame: Frame) => void) | undefined;
  readonly #onLost = new Set<(reason: string) => void>();
  #overBecause: string | undefined;
  /** Nothing gets through any more, and this end does not know. */
  #isDead = false;

  constructor(carrier: Carrier, place: EndPlace) {
    this.#carrier = carrier;
    this.place = place;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get isOver(): boolean {
    return this.#overBecause !== undefined;
  }

  async send(frame: Frame): Promise<void> {
    const bytes = frameBytes(frame);
    if (bytes > MAX_FRAME_BYTES) throw frameTooLarge(bytes, MAX_FRAME_BYTES);
    this.#carrier.onSend(this);
    if (this.#overBecause !== undefined) throw connectionLost(this.#overBecause);
    const own = typeof frame === 'string' ? frame : frame.slice();
    this.#bufferedBytes += bytes;
    try {
      await new Promise<void>((handedOver, lost) => {
        this.#waiting.push({ frame: own, bytes, handedOver, lost });
        this.#hand();
      });
    } finally {
      this.#bufferedBytes -= bytes;
    }
  }

  onFrame(handler: (frame: Frame) => void): () => void {
    this.#onFrame = handler;
    if (this.#arrived.length > 0) this.#soon(() => this.#give());
    return () => {
      if (this.#onFrame === handler) this.#onFrame = undefined;
    };
  }

  onLost(handler: (reason: string) => void): () => void {
    const own = (reason: string): void => handler(reason);
    this.#onLost.add(own);
    if (this.#overBecause !== undefined) this.#soon(() => this.#tellLost());
    return () => {
      this.#onLost.delete(own);
    };
  }

  async close(): Promise<void> {
    this.#finish('it was closed', 'the other end closed it');
  }

  /** Its thread has ended. What it had sent arrives, and then its end; or nothing more, as when a machine loses power. */
  threadOver(isSilent: boolean): void {
    if (isSilent) this.peer?.die();
    else this.#finish('its thread ended', 'the other end is gone');
  }

  /** The connection is over, and this end is told. What was under way to it is lost. */
  lose(reason: string): void {
    this.#forgetIncoming();
    this.#end(reason);
  }

  /** Nothing gets through any more, and nobody tells this end. */
  die(): void {
    this.#isDead = true;
    this.#forgetIncoming();
  }

  /** Plans the next arrival, if something is under way and can get through. */
  pump(): void {
    const [next] = this.#incoming;
    if (this.#isPlanned || next === undefined || !this.#isReached) return;
    this.#isPlanned = true;
    const { scheduler } = this.#carrier;
    scheduler.schedule(this.place.thread, Math.max(next.earliestMs, scheduler.nowMs), () => {
      this.#isPlanned = false;
      if (this.#isReached) this.#take();
      this.pump();
    });
  }

  get #isReached(): boolean {
    const { peer } = this;
    return peer !== undefined && this.#carrier.isOpen(peer.place.node, this.place.node);
  }

  /** Hands over what there is room for. */
  #hand(): void {
    const { peer } = this;
    while (peer !== undefined && peer.#incomingBytes < BUFFER_BYTES) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!peer.#isGone && !this.#isDead) peer.#send(next.frame, next.bytes);
      else {
        this.#carrier.counts.lost += 1;
        // Nobody reads it: it fills the buffer, which nothing empties.
        peer.#incomingBytes += next.bytes;
      }
      next.handedOver();
    }
  }

  get #isGone(): boolean {
    return this.#isDead || this.#overBecause !== undefined || this.place.thread.isOver;
  }

  #send(frame: Frame | undefined, bytes: number, reason = ''): void {
    const { scheduler, delayMs } = this.#carrier;
    const fromMs = this.peer?.place.thread.localMs ?? scheduler.nowMs;
    this.#latestMs = Math.max(this.#latestMs, fromMs + delayMs());
    this.#incomingBytes += bytes;
    this.#incoming.push({ frame, bytes, earliestMs: this.#latestMs, reason });
    this.pump();
  }

  #take(): void {
    const next = this.#incoming.shift();
    if (next === undefined) return;
    this.#incomingBytes -= next.bytes;
    if (next.frame === undefined) {
      this.#end(next.reason);
      return;
    }
    this.#carrier.counts.frames += 1;
    if (this.peer !== undefined) this.peer.#roomSoon();
    this.#arrived.push(next.frame);
    this.#give();
  }

  /** Gives its handler what has arrived. */
  #give(): void {
    while (this.#onFrame !== undefined && !this.isOver) {
      const frame = this.#arrived.shift();
      if (frame === undefined) return;
      this.#onFrame(frame);
    }
  }

  #roomSoon(): void {
    if (this.#waiting.length > 0) this.#soon(() => this.#hand());
  }

  #finish(own: string, told: string): void {
    if (this.#overBecause !== undefined) return;
    const { peer } = this;
    for (const { frame, bytes, handedOver } of this.#waiting.splice(0)) {
      if (peer !== undefined && !peer.#isGone && !this.#isDead) peer.#send(frame, bytes);
      handedOver();
    }
    if (peer !== undefined && !peer.#isGone && !this.#isDead) peer.#send(undefined, 0, told);
    this.#forgetIncoming();
    this.#end(own);
  }

  #end(reason: string): void {
    if (this.#overBecause !== undefined) return;
    this.#overBecause = reason;
    for (const { lost } of this.#waiting.splice(0)) lost(connectionLost(reason));
    this.#carrier.onOver(this);
    this.#soon(() => this.#tellLost());
  }

  #forgetIncoming(): void {
    for (const { frame } of this.#incoming.splice(0)) if (frame !== undefined) this.#carrier.counts.lost += 1;
  }

  #tellLost(): void {
    this.#give();
    const handlers = [...this.#onLost];
    this.#onLost.clear();
    for (const handler of handlers) handler(this.#overBecause ?? 'it was closed');
  }

  #soon(run: () => void): void {
    const { thread } = this.place;
    this.#carrier.scheduler.schedule(thread, thread.localMs, run);
  }
}
