import type { ProcessEnd } from '../../runtime/os/guarded-process.ts';
import { OrreryError, refused } from '../../runtime/protocol/errors.ts';
import type { CodingTally } from './coding-tally.ts';

/** How the program of an attempt has ended. `said`: the last of its log. */
export interface AttemptEnd {
  readonly name: string;
  readonly program: string;
  readonly end: ProcessEnd;
  readonly tally: CodingTally;
  readonly said: string;
  readonly nowMs: number;
}

/**
 * What the asker gets for an attempt that nobody has stopped; undefined for one that went well. It has a code, so that the
 * agent lives on.
 *
 * REFUSED for a program that could not be started, RATE_LIMITED with `retryAfterMs` if that is known, HANDLER_FAILED for one
 * that has failed, or says so.
 */
export function failureOf(attempt: AttemptEnd): OrreryError | undefined {
  const { name, program, end, tally, said, nowMs } = attempt;
  const { failure, code, signal } = end;
  if (failure !== undefined)
    return refused(`${name} could not be started: the program "${program}": ${failure}`, {
      program,
      reason: failure,
    });
  const isOver = code === 0 && tally.end?.isError !== true;
  const { rateLimit } = tally;
  const details = { program, exitCode: code, signal, said, ...tally.result() };
  if (rateLimit !== undefined && (!isOver || (rateLimit.isFinal && tally.end === undefined))) {
    const { retryAtMs } = rateLimit;
    const retryAfterMs = retryAtMs === undefined ? undefined : Math.max(0, retryAtMs - nowMs);
    return new OrreryError('RATE_LIMITED', `${name} takes no more work for now: ${rateLimit.reason}`, {
      details: { ...details, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    });
  }
  if (isOver) return undefined;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  const reasons = [tally.end?.isError === true ? tally.end.reason : '', said].filter(
    (reason) => reason !== '',
  );
  return new OrreryError(
    'HANDLER_FAILED',
    `${name} ended with ${how}${reasons.map((each) => `: ${each}`).join('')}`,
    {
      details,
    },
  );
}
