/**
 * Has an error lead to whoever called `called`, an asynchronous function that fails with it. An error that comes from
 * another thread was made when that call was long off the stack; V8 still knows who awaits it.
 */
export function leadToCaller(error: unknown, called: (...args: never[]) => unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { stack } = error;
  Error.captureStackTrace(error, called);
  // Nobody awaits it: what it was made by says more than nothing.
  if (!/\n\s+at /.test(String(error.stack))) Object.assign(error, { stack });
  return error;
}
