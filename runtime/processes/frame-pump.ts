import { reasonOf } from '../protocol/errors.ts';
import { ChildFrame } from './child-frame.ts';
import { FrameReader } from './frame-codec.ts';

export interface FramePumpDeps {
  /** Does what the frame says. False when it has to wait; throws when it should not have been said. */
  readonly obey: (frame: ChildFrame) => boolean;
  /** Bytes that are no frame, or a frame that should not have been sent: nothing after it is read. */
  readonly onFault: (fault: string) => void;
}

const MAX_FAULT = 500;

/** Takes the frames out of what a process writes, checks them, and has them obeyed in their order, one after the other. */
export class FramePump {
  readonly #deps: FramePumpDeps;
  readonly #reader = new FrameReader();
  /** The frame that has to wait. */
  #waiting: ChildFrame | undefined;
  #isBroken = false;

  constructor(deps: FramePumpDeps) {
    this.#deps = deps;
  }

  /** A frame has to wait, and so does everything after it. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Bytes that are not read yet. */
  get heldBytes(): number {
    return this.#reader.heldBytes;
  }

  add(bytes: Buffer): void {
    if (this.#isBroken) return;
    this.#reader.add(bytes);
    if (!this.isWaiting) this.run();
  }

  /** Goes on, until a frame has to wait or there is none. */
  run(): void {
    try {
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
        this.#waiting = undefined;
        if (this.#deps.obey(frame)) continue;
        this.#waiting = frame;
        return;
      }
    } catch (error) {
      this.stop();
      this.#deps.onFault(reasonOf(error).slice(0, MAX_FAULT));
    }
  }

  /** Nothing more is read. */
  stop(): void {
    this.#isBroken = true;
    this.#waiting = undefined;
  }

  #next(): ChildFrame | undefined {
    if (this.#waiting !== undefined) return this.#waiting;
    const next = this.#isBroken ? undefined : this.#reader.next();
    return next === undefined ? undefined : ChildFrame.parse(next.frame);
  }
}
