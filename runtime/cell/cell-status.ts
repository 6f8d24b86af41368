import { READINESS, type Readiness } from '../routing/agent-words.ts';

/**
 * Where one agent stands in its thread.
 *
 * - `idle`      lazy, waiting for its first envelope
 * - `finishing` takes nothing new, because its code is about to change
 * - `changing`  has no actor while its code changes
 * - `parked`    its state waits for code that can go on with it
 * - `down`      its actor is dead; the supervisor decides
 * - `failed`    the supervisor gave up; what arrives is dead-lettered
 * - `stopped`   ended for good, likewise
 */
export type CellStatus =
  | 'idle'
  | 'starting'
  | 'running'
  | 'finishing'
  | 'changing'
  | 'parked'
  | 'down'
  | 'failed'
  | 'stopped';

/** What others are told of it. `isFirst`: it had no actor before, in this thread. */
export function readinessOf(status: CellStatus, isFirst: boolean): Readiness {
  switch (status) {
    case 'idle':
    case 'running':
      return READINESS.live;
    // Whoever wakes a lazy agent is not the last to whom it is live.
    case 'starting':
      return isFirst ? READINESS.live : READINESS.awaited;
    case 'down':
    case 'finishing':
    case 'changing':
      return READINESS.awaited;
    case 'parked':
    case 'failed':
    case 'stopped':
      return READINESS.ended;
  }
}
