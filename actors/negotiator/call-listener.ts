import { reasonOf } from '../../runtime/protocol/errors.ts';

/** Calls a user's listener; what it throws, or rejects with, is a warning of the process and ends nothing. */
export function callListener<Arg>(listener: (arg: Arg) => unknown, arg: Arg): void {
  const warn = (error: unknown): void =>
    process.emitWarning(`A listener of a negotiator failed: ${reasonOf(error)}`, { type: 'OrreryWarning' });
  try {
    const result = listener(arg);
    if (result instanceof Promise) result.catch(warn);
  } catch (error) {
    warn(error);
  }
}
