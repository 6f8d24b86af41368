import type { JSX } from 'preact';

/** How full something is, as a bar with its numbers. */
export function Meter({
  value,
  of,
  label,
}: {
  readonly value: number;
  readonly of: number | undefined;
  readonly label: string;
}): JSX.Element {
  const share = of === undefined || of <= 0 ? (value > 0 ? 0.05 : 0) : Math.min(1, value / of);
  const level = share >= 1 ? 'bad' : share >= 0.8 ? 'warning' : '';
  return (
    <span class={`meter ${level}`} title={label}>
      <span class="meter-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.round(share * 100)}%` }} />
      </span>
      <span class="number">
        {value}
        {of === undefined ? '' : ` / ${of}`}
      </span>
    </span>
  );
}

/** The last seconds as a line. */
export function Spark({
  counts,
  label,
}: {
  readonly counts: readonly number[];
  readonly label: string;
}): JSX.Element {
  const most = Math.max(1, ...counts);
  const step = 60 / Math.max(1, counts.length - 1);
  const points = counts
    .map((count, at) => `${(at * step).toFixed(1)},${(15 - (count / most) * 13).toFixed(1)}`)
    .join(' ');
  return (
    <svg class="spark" viewBox="0 0 60 16" width="60" height="16" role="img" aria-label={label}>
      <polyline points={points} fill="none" stroke="currentColor" stroke-width="1.3" />
    </svg>
  );
}

export const perSecondText = (rate: number): string =>
  rate === 0 ? '0/s' : rate < 10 ? `${rate.toFixed(1)}/s` : `${Math.round(rate)}/s`;
