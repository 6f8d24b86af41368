import { A2A_MESSAGE_TYPES } from '../protocol/message-types.ts';
import { LATENCY_BUCKETS } from './latency.ts';

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
  replies: 5,
  refused: 6,
  errors: 7,
  securityEvents: 8,
  crossTier: 9,
  routingMs: 10,
  routings: 11,
  batchesSent: 12,
  crashed: 13,
  modelCalls: 14,
  modelRetries: 15,
  modelTokens: 16,
  modelCostUsd: 17,
  toolCalls: 18,
  toolErrors: 19,
  toolMs: 20,
  /** The ten message types follow, as in `A2A_MESSAGE_TYPES`. */
  sentByType: 21,
  /** From when an envelope was made until it was settled, all together; the buckets of the histogram follow. */
  latencyMs: 21 + A2A_MESSAGE_TYPES.length,
  latencyBuckets: 22 + A2A_MESSAGE_TYPES.length,
} as const;

export const COUNTER_WORDS = COUNT.latencyBuckets + LATENCY_BUCKETS;

export const newCounters = (): SharedArrayBuffer => new SharedArrayBuffer(COUNTER_WORDS * 8);
