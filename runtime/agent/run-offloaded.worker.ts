import { errorToData, isOrreryError, type ErrorData, reasonOf } from '../protocol/errors.ts';

/** What a thread of the CPU pool is asked to do. `module` is a URL as text. */
export interface OffloadedTask {
  readonly module: string;
  readonly input: unknown;
}

/** An error of a task as data: thrown through a port it would lose its name and its code. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly orrery?: ErrorData;
}

export type OffloadedOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: ThrownError }
  | { readonly kind: 'module-invalid'; readonly reason: string };

/** Runs a module's default export on an input, in a thread of the pool. Never rejects: the outcome says what happened. */
export async function runOffloaded({ module, input }: OffloadedTask): Promise<OffloadedOutcome> {
  let run: unknown;
  try {
    run = ((await import(module)) as { default?: unknown }).default;
  } catch (error) {
    return { kind: 'module-invalid', reason: `it does not load: ${describeThrown(error).message}` };
  }
  if (typeof run !== 'function') {
    return { kind: 'module-invalid', reason: 'its default export is not a function' };
  }
  try {
    return { kind: 'returned', value: await run(input) };
  } catch (error) {
    return { kind: 'threw', error: describeThrown(error) };
  }
}

function describeThrown(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { name: 'Error', message: reasonOf(error) };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(isOrreryError(error) ? { orrery: errorToData(error) } : {}),
  };
}
