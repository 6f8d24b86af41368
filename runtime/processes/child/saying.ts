import { isOrreryError, notSerialisable, reasonOf } from '../../protocol/errors.ts';
import { findUnserialisable } from '../../protocol/json.ts';

/** Has `value` said; what cannot be written, or is too large, is NOT_SERIALISABLE, as `field`. */
export function saying<Result>(field: string, value: unknown, say: () => Result): Result {
  try {
    return say();
  } catch (error) {
    if (isOrreryError(error)) throw error;
    const fault = findUnserialisable(value, field);
    throw notSerialisable(fault?.path ?? field, fault?.kind ?? reasonOf(error));
  }
}

/** What JSON makes of a value that it cannot say as a whole: in a field of a frame it would leave it out. */
export const wholeValue = (value: unknown, isStructured: boolean): unknown =>
  !isStructured && (typeof value === 'function' || typeof value === 'symbol') ? null : value;
