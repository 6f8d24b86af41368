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
