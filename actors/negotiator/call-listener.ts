import { warnOf } from '../../runtime/protocol/warn-of.ts';

/** Calls a user's listener; what it throws, or rejects with, is a warning of the process and ends nothing. */
export function callListener<Arg>(listener: (arg: Arg) => unknown, arg: Arg): void {
  const warn = (error: unknown): void => warnOf('A listener of a negotiator failed', error);
  try {
    const result = listener(arg);
    if (result instanceof Promise) result.catch(warn);
  } catch (error) {
    warn(error);
  }
}
