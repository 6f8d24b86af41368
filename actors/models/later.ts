import { clientOf, type HandlingContext } from '../../runtime/public.ts';

/** Calls `fire` after `ms`, unless the returned function is called before. */
export function later(ctx: HandlingContext<never>, ms: number, fire: () => void): () => void {
  const clock = clientClock(ctx);
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

/** In a process of its own an agent has no client, and a sleep is what it has of a clock. */
function clientClock(ctx: HandlingContext<never>) {
  try {
    return clientOf(ctx).seams.clock;
  } catch {
    return undefined;
  }
}
