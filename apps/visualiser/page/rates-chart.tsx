import type { JSX } from 'preact';
import type { RatesLook } from '../worker/look.ts';
import { Chart, type ChartLine } from './chart.tsx';

const LINES: readonly ChartLine[] = [
  { label: 'sent', colour: '--accent', fill: true },
  { label: 'done', colour: '--good', dash: [6, 3] },
  { label: 'failed', colour: '--bad', dash: [2, 3] },
];

export function RatesChart({
  rates,
  startedAtMs,
}: {
  readonly rates: RatesLook;
  readonly startedAtMs: number;
}): JSX.Element {
  const { second, sent, settled, failed } = rates;
  const times = sent.map((_, at) => second - sent.length + 1 + at - Math.floor(startedAtMs / 1_000));
  const label = `Envelopes a second, the last ${sent.length} seconds: ${sent.at(-1) ?? 0} sent, ${settled.at(-1) ?? 0} done, ${failed.at(-1) ?? 0} failed`;
  return <Chart label={label} lines={LINES} data={[times, sent, settled, failed]} height={150} />;
}
