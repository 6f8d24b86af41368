/**
 * Gives an error a stack that leads to the caller of `called`, an asynchronous function that fails with it. When an error comes from
 * another thread, that call is no longer on the stack, but V8 still knows who awaits it.
 */
export function leadToCaller(error: unknown, called: (...args: never[]) => unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { stack } = error;
  Error.captureStackTrace(error, called);
  // Nobody awaits it: the place where the error was made says more than nothing.
  if (!/\n\s+at /.test(String(error.stack))) Object.assign(error, { stack });
  return error;
}
