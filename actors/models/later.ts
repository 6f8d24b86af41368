import { deskOf, type HandlingContext } from '../../runtime/public.ts';

/** Calls `fire` after `ms`, unless the returned function is called before. */
export function later(ctx: HandlingContext<never>, ms: number, fire: () => void): () => void {
  const clock = deskClock(ctx);
  if (clock !== undefined) return clock.setTimer(ms, fire);
  let isCancelled = false;
  ctx.sleep(ms).then(
    () => (isCancelled ? undefined : fire()),
    () => undefined,
  );
  return () => {
    isCancelled = true;
  };
}

/** In a process of its own an agent has no desk, and a sleep is what it has of a clock. */
function deskClock(ctx: HandlingContext<never>) {
  try {
    return deskOf(ctx).seams.clock;
  } catch {
    return undefined;
  }
}
