import type { Clock } from '../runtime/protocol/seams.ts';

/** How long frames are taken before the event loop turns, milliseconds: timers and other connections have their time too. */
const TURN_MS = 50;

/** How long a thread has taken frames, of all its connections, since its event loop has turned. */
export class LoopTurn {
  #beganAtMs: number | undefined;

  /** Whether no more frames should be taken before the event loop has turned. */
  isOver(clock: Clock): boolean {
    const nowMs = clock.monotonicMs();
    if (this.#beganAtMs === undefined) {
      this.#beganAtMs = nowMs;
      clock.setTimer(0, () => {
        this.#beganAtMs = undefined;
      });
    }
    return nowMs - this.#beganAtMs >= TURN_MS;
  }
}
