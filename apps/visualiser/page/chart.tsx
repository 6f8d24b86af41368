import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { usePage } from './page-context.ts';

/** A line of a chart; `dash` tells it from others without colour. */
export interface ChartLine {
  readonly label: string;
  readonly colour: string;
  readonly dash?: readonly number[];
  readonly fill?: boolean;
}

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Lines over time on a canvas. The first of `data` is the time in seconds since the start. */
export function Chart({
  label,
  lines,
  data,
  height,
}: {
  readonly label: string;
  readonly lines: readonly ChartLine[];
  readonly data: readonly (readonly (number | null)[])[];
  readonly height: number;
}): JSX.Element {
  const { state } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const { theme } = state;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const make = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(
        optionsOf(lines, element.clientWidth, height),
        data as unknown as uPlot.AlignedData,
        element,
      );
    };
    make();
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    scheme.addEventListener('change', make);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', make);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [theme, height]);
  const last = data.map((one) => one.at(-1) ?? 0).join(' ');
  useEffect(
    () => plot.current?.setData(data as unknown as uPlot.AlignedData),
    [data.length, data[0]?.length, last],
  );
  return (
    <div class="chart" role="img" aria-label={label}>
      <div ref={box} />
      <p aria-hidden="true">
        {lines.map(({ label: name, colour, dash }) => (
          <span key={name}>
            <svg width="22" height="8" viewBox="0 0 22 8" aria-hidden="true">
              <line
                x1="0"
                x2="22"
                y1="4"
                y2="4"
                stroke={`var(${colour})`}
                stroke-width="2"
                stroke-dasharray={dash?.join(' ')}
              />
            </svg>{' '}
            {name}
          </span>
        ))}
      </p>
    </div>
  );
}

function optionsOf(lines: readonly ChartLine[], width: number, height: number): uPlot.Options {
  const axis = {
    stroke: colourOf('--quiet'),
    grid: { stroke: colourOf('--rule'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
    size: 34,
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [
      { ...axis, size: 22, space: 50, values: (_plot, values) => values.map(clockText) },
      { ...axis, size: 44, space: 26, values: (_plot, values) => values.map(shortNumber) },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, dash, fill }) => ({
        label,
        stroke: colourOf(colour),
        width: 1.5,
        points: { show: false },
        ...(dash === undefined ? {} : { dash: [...dash] }),
        ...(fill === true ? { fill: `${colourOf(colour)}22` } : {}),
      })),
    ],
  };
}

function clockText(seconds: number): string {
  if (seconds < 0) return '';
  const whole = Math.round(seconds);
  if (whole >= 3_600) return `${Math.floor(whole / 3_600)} h ${Math.floor(whole / 60) % 60}`;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function shortNumber(value: number): string {
  if (value >= 1_000_000) return `${(value / 1_000_000).toFixed(1)}M`;
  if (value >= 10_000) return `${Math.round(value / 1_000)}k`;
  return value < 1 && value > 0 ? value.toFixed(2) : String(Math.round(value * 10) / 10);
}
