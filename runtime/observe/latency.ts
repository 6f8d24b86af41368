/** Upper bounds of the histogram of latencies, milliseconds; what takes longer is in a bucket of its own. */
export const LATENCY_BOUNDS_MS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536] as const;

export const LATENCY_BUCKETS = LATENCY_BOUNDS_MS.length + 1;

/** The bucket of a latency. Each bound is four times the one before, so it is found by counting bits. */
export const latencyBucket = (ms: number): number =>
  ms <= 1 ? 0 : ms > 65_536 ? LATENCY_BUCKETS - 1 : (33 - Math.clz32(Math.ceil(ms) - 1)) >> 1;
