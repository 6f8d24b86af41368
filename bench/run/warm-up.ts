/** A contender warms up at most so many times as long as is asked for. */
export const MOST_WARM_UPS = 4;
/** Of the time that is asked for: what it must have had of the processor. */
const LEAST_CPU = 0.5;

/**
 * Whether a contender has run for long enough. What is compiled is a matter of processor time: where others take that, or
 * where the contender waits for a disk, it runs for longer.
 */
export function isWarm(
  taken: { readonly wallMs: number; readonly cpuMs: number },
  warmUpMs: number,
): boolean {
  const { wallMs, cpuMs } = taken;
  return wallMs >= MOST_WARM_UPS * warmUpMs || (wallMs >= warmUpMs && cpuMs >= LEAST_CPU * warmUpMs);
}
