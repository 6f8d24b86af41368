import { ERROR_CODES, type ErrorCode, errorToData, OrreryError } from '../../runtime/protocol/errors.ts';
import type { ErrorPayload, StatusPayload } from './payloads.ts';

/** How far an ask is, as its `onProgress` has it. */
export interface AskProgress {
  readonly fraction: number;
  readonly note?: string;
}

/** The STATUS of work that an ask waits for. `remainingMs`: how long it may still take. */
export const statusPayloadOf = (
  { fraction, note = '' }: AskProgress,
  remainingMs: number,
): StatusPayload => ({
  status: fraction >= 1 ? 'completed' : 'working',
  progress: Math.min(1, Math.max(0, fraction)),
  estimated_completion_seconds: Math.max(0, remainingMs) / 1_000,
  message: note,
});

/** The ERROR of what an ask failed with; `fallbackAmid` names an agent that may do it instead. */
export function errorPayloadOf(error: unknown, fallbackAmid?: string): ErrorPayload {
  const { code, message, details = {} } = errorToData(error);
  const { retryAfterMs } = details;
  return {
    code,
    message,
    ...(typeof retryAfterMs === 'number' && { retry_after_seconds: retryAfterMs / 1_000 }),
    ...(fallbackAmid !== undefined && { fallback_amid: fallbackAmid }),
  };
}

const KNOWN: ReadonlySet<string> = new Set(ERROR_CODES);

/** The error that an ERROR says: REMOTE_FAILED where its code is none of ours, which is then in the details. */
export function errorOfPayload({
  code,
  message,
  retry_after_seconds,
  fallback_amid,
}: ErrorPayload): OrreryError {
  const isKnown = KNOWN.has(code);
  return new OrreryError(isKnown ? (code as ErrorCode) : 'REMOTE_FAILED', message, {
    details: {
      ...(!isKnown && { code }),
      ...(retry_after_seconds !== undefined && { retryAfterMs: retry_after_seconds * 1_000 }),
      ...(fallback_amid !== undefined && { fallbackAmid: fallback_amid }),
    },
  });
}
