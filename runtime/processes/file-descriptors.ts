/**
 * The descriptors of an agent's process beside the usual three.
 *
 * - `inbox`    frames from the host, read when the event loop turns.
 * - `outbox`   frames to the host, written before the code goes on: what is written is not lost with the process.
 * - `answers`  to calls for which the process stands still.
 * - `lifeline` held open by the host and watched by a thread of its own: when it closes, the process ends, whatever its
 *              main thread does. A byte on it asks what the process uses.
 */
export const FD = { inbox: 3, outbox: 4, answers: 5, lifeline: 6 } as const;

/** The answer to a byte on the lifeline: two doubles, processor time in milliseconds and resident bytes. */
export const USAGE_BYTES = 16;
