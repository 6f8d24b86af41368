import { UsageError } from '../usage-error.ts';

/** A moment of a run: after so many events, so long after it began, or by the clock, Unix milliseconds. */
export type Moment =
  | { readonly kind: 'events'; readonly count: number }
  | { readonly kind: 'since-start'; readonly ms: number }
  | { readonly kind: 'clock'; readonly atMs: number };

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 };

/** Reads `--at`: `120` events, `12.5s` or `1:02.250` after the start, or a date of ISO 8601. Throws UsageError. */
export function readMoment(value: string | true | undefined): Moment | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  if (/^\d{1,12}$/.test(text)) return { kind: 'events', count: Number(text) };
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|s|min|h)$/.exec(text) ?? [];
  if (amount !== undefined) return { kind: 'since-start', ms: Number(amount) * (UNITS[unit] ?? 1) };
  const [, hours = '0', minutes, seconds] = /^(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)$/.exec(text) ?? [];
  if (minutes !== undefined)
    return {
      kind: 'since-start',
      ms: Math.round((Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000),
    };
  const atMs = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(atMs)) return { kind: 'clock', atMs };
  throw new UsageError(
    `Option "--at" is "${text}", expected a number of events, a time such as 12.5s or 1:02.250, or a date such as 2026-11-29T10:00:00Z`,
  );
}

/** Whether a moment is over when the next event, after `events` of them, has happened at `atMs`. */
export function isOver(
  moment: Moment,
  {
    events,
    atMs,
    startedAtMs,
  }: { readonly events: number; readonly atMs: number; readonly startedAtMs: number },
): boolean {
  if (moment.kind === 'events') return events >= moment.count;
  return atMs > (moment.kind === 'clock' ? moment.atMs : startedAtMs + moment.ms);
}
