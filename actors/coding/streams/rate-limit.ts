import type { CodingEvent } from '../coding-event.ts';
import { toldInLine } from '../coding-text.ts';

const SECOND_MS = 1_000;
/** The longest wait that is believed: a month. */
const MAX_WAIT_MS = 31 * 24 * 60 * 60 * SECOND_MS;

const LIMITED =
  /\b429\b|too many requests|rate.?limit|usage limit|session limit|weekly limit|quota|resource.?exhausted|overloaded/i;
const UNITS_MS: readonly (readonly [RegExp, number])[] = [
  [/(\d{1,4})\s?(?:d|days?)(?![a-z])/i, 24 * 60 * 60 * SECOND_MS],
  [/(\d{1,5})\s?(?:h|hours?)(?![a-z])/i, 60 * 60 * SECOND_MS],
  [/(\d{1,6})\s?(?:m|mins?|minutes?)(?![a-z])/i, 60 * SECOND_MS],
  [/(\d{1,8}(?:\.\d{1,6})?)\s?(?:s|secs?|seconds?)(?![a-z])/i, SECOND_MS],
  [/(\d{1,9}(?:\.\d{1,6})?)\s?ms(?![a-z])/i, 1],
];

/** Says whether an error of a program, not a text of its model, is that its provider lets it wait. */
export const isRateLimit = (error: string): boolean => LIMITED.test(error);

/** When an error says that it may be tried again, Unix milliseconds: `try again in 2 hours 5 minutes`, `retry in 3.5s`. */
export function retryAtIn(error: string, nowMs: number): number | undefined {
  const [, wait] =
    /\b(?:try again|retry|retrying|reset(?:s)?(?: after)?)\s+(?:in\s+)?(.{1,80})/i.exec(error) ?? [];
  if (wait === undefined) return undefined;
  const waitMs = UNITS_MS.reduce((sum, [unit, ms]) => sum + Number(unit.exec(wait)?.[1] ?? 0) * ms, 0);
  return waitMs === 0 ? undefined : nowMs + Math.min(Math.ceil(waitMs), MAX_WAIT_MS);
}

/** The event of an error that is a rate limit; none for any other. */
export function rateLimitOf(error: string, nowMs: number, isFinal: boolean): readonly CodingEvent[] {
  if (!isRateLimit(error)) return [];
  const retryAtMs = retryAtIn(error, nowMs);
  return [
    {
      type: 'rate.limited',
      reason: toldInLine(error),
      isFinal,
      ...(retryAtMs === undefined ? {} : { retryAtMs }),
    },
  ];
}
