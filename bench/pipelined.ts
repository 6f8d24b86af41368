/** Calls `operate` for 0..count-1 with `width` calls in flight. */
export async function pipelined(
  count: number,
  width: number,
  operate: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await operate(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, loop));
}

/** `total` in `parts` whole shares that differ by at most one. */
export function sharesOf(total: number, parts: number): readonly number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor((total + parts - 1 - part) / parts));
}
