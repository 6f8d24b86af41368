import { errorFromData, type ErrorData } from '../protocol/errors.ts';
import type { ThrownData } from './child-frame.ts';

/** The error that code in a process threw. */
export function errorOf({ name, message, stack, coded }: ThrownData): Error {
  if (coded !== undefined) return errorFromData(coded as ErrorData);
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
