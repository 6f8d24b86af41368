import { warnOf } from '../protocol/warn-of.ts';

/** Listeners whose failure was told: one that fails may be called thousands of times a second. */
const told = new WeakSet<object>();

/**
 * Calls a user's listener. What it throws, or rejects with, ends nothing, and whatever is in the middle of something goes
 * on: the first failure of a listener is a warning of the process (`OrreryWarning`).
 */
export function callOutside<Arg>(listener: ((arg: Arg) => unknown) | undefined, arg: Arg): void {
  if (listener === undefined) return;
  try {
    const result = listener(arg);
    if (result instanceof Promise) result.catch((error: unknown) => warn(listener, error));
  } catch (error) {
    warn(listener, error);
  }
}

function warn(listener: object, error: unknown): void {
  if (told.has(listener)) return;
  told.add(listener);
  warnOf('A listener failed', error);
}
