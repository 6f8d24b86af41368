import { isOrreryError, notSerialisable, reasonOf } from '../../protocol/errors.ts';
import { findUnserialisable } from '../../protocol/json.ts';

/** Returns what `send` returns. Throws NOT_SERIALISABLE naming `field` if `value` cannot be written, or is too large. */
export function requireSerialisable<Result>(field: string, value: unknown, send: () => Result): Result {
  try {
    return send();
  } catch (error) {
    if (isOrreryError(error)) throw error;
    const fault = findUnserialisable(value, field);
    throw notSerialisable(fault?.path ?? field, fault?.kind ?? reasonOf(error));
  }
}

/** What JSON makes of a value that it cannot say as a whole: in a field of a frame it would leave it out. */
export const wholeValue = (value: unknown, isStructured: boolean): unknown =>
  !isStructured && (typeof value === 'function' || typeof value === 'symbol') ? null : value;
