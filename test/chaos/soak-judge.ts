/** What a process says of itself while it is under load. */
export interface Sample {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly journalMb: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly handles: number;
}

/** What counts as growing: more than so many times what it was, and so much beyond that. */
const FACTOR = 1.5;
const SLACK: Readonly<Record<keyof Sample, number>> = {
  rssMb: 80,
  heapMb: 24,
  journalMb: 16,
  descriptors: 16,
  threads: 8,
  handles: 32,
};

const WARM_UP = 0.2;
const PARTS = 5;

/** Median of the first and of the last fifth after the warm-up, for each figure; undefined of too few samples. */
export function trends(
  samples: readonly Sample[],
): ReadonlyMap<keyof Sample, readonly [number, number]> | undefined {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const size = Math.floor(warm.length / PARTS);
  if (size === 0) return undefined;
  const of = (name: keyof Sample) =>
    [medianOf(warm.slice(0, size), name), medianOf(warm.slice(-size), name)] as const;
  return new Map((Object.keys(SLACK) as (keyof Sample)[]).map((name) => [name, of(name)]));
}

/** What has grown without a reason, in words. */
export function growth(samples: readonly Sample[]): readonly string[] {
  return [...(trends(samples) ?? [])]
    .filter(([name, [first, last]]) => last > first * FACTOR + SLACK[name])
    .map(([name, [first, last]]) => `${name} has grown from ${first.toFixed(1)} to ${last.toFixed(1)}`);
}

function medianOf(samples: readonly Sample[], name: keyof Sample): number {
  const sorted = samples.map((sample) => sample[name]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
