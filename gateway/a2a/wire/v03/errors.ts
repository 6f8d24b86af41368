import type { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { WrittenError } from '../dialect.ts';
import { faultOf } from '../faults.ts';
import { ownCodeOf, writeError as writeErrorV1 } from '../v1/errors.ts';

/**
 * An error as 0.1 and 0.3 have it: the numbers are those of 1.0, which has kept theirs and added some. `data.reason` is
 * the fault by its name, `data.code` the error's own code, `retryAfterMs` when it is worth while to ask again.
 */
export function writeError(error: OrreryError): WrittenError {
  const { code, message, httpStatus } = writeErrorV1(error);
  const { retryAfterMs } = error.details;
  const retry = typeof retryAfterMs === 'number' ? { retryAfterMs } : {};
  const own = ownCodeOf(error);
  const named = own === undefined ? {} : { code: own };
  return { code, message, httpStatus, data: { reason: faultOf(error), ...named, ...retry } };
}
