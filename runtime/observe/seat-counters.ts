import { A2A_MESSAGE_TYPES } from '../protocol/envelope.ts';

/**
 * The counters of one thread, in shared memory that it does not own, so that its death loses no count.
 *
 * One writer each; 64-bit floats, exact up to 2^53.
 */
export const COUNT = {
  accepted: 0,
  handled: 1,
  rejected: 2,
  expired: 3,
  deadLettered: 4,
  received: 5,
  replies: 6,
  refused: 7,
  errors: 8,
  securityEvents: 9,
  crossTier: 10,
  routingMs: 11,
  routings: 12,
  batchesSent: 13,
  started: 14,
  crashed: 15,
  /** The ten message types follow, as in `A2A_MESSAGE_TYPES`. */
  sentByType: 16,
} as const;

export const COUNTER_WORDS = COUNT.sentByType + A2A_MESSAGE_TYPES.length;

export const newCounters = (): SharedArrayBuffer => new SharedArrayBuffer(COUNTER_WORDS * 8);
