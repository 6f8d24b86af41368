import { errorFromData, type ErrorData, withoutStack } from '../protocol/errors.ts';
import type { ThrownData } from './child-frame.ts';

/** The error that code in a process threw. */
export function errorOf({ name, message, stack, coded }: ThrownData): Error {
  if (coded !== undefined)
    return errorFromData({ ...coded, ...(stack === undefined ? {} : { stack }) } as ErrorData);
  const error = withoutStack(new Error(message));
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
