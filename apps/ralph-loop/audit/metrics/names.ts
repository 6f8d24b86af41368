import type { Defect } from '../evidence.ts';
import type { Instrument } from './instrument.ts';

const VALID_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const VALID_LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Words for units, and the base unit that Prometheus keeps everything in. */
const BASE_UNITS: Readonly<Record<string, string>> = {
  ...unit(
    'seconds',
    'ms msec msecs millis millisecond milliseconds us micros microseconds ns nanos nanoseconds',
  ),
  ...unit('seconds', 'minute minutes hour hours day days week weeks'),
  ...unit('bytes', 'kb kib kilobytes kibibytes mb mib megabytes mebibytes gb gib gigabytes gibibytes'),
  ...unit('ratio', 'percent percentage pct'),
};

function unit(base: string, words: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word, base]));
}

/** What is wrong with what a metric is called, by what prom-client takes and by Prometheus' conventions. */
export function checkNames(instrument: Instrument): Defect[] {
  const { name, place, help, isOpen } = instrument;
  const defects = labelFaults(instrument);
  const isHelpless = help === undefined ? !isOpen : help.type === 'Literal' && help.value === '';
  if (isHelpless) defects.push({ rule: 'metrics.no-help', offset: (help ?? place).start });
  if (name === undefined) return defects;
  if (!VALID_NAME.test(name)) {
    const message = `prom-client refuses the name ${name} when the metric is made`;
    return [...defects, { rule: 'metrics.invalid-name', offset: place.start, message }];
  }
  return [...defects, ...conventionFaults(name, instrument)];
}

function conventionFaults(name: string, { kind, place: { start: offset } }: Instrument): Defect[] {
  const defects: Defect[] = [];
  const isTotal = name.endsWith('_total');
  if (kind === 'Counter' && !isTotal) {
    const message = `The name of a counter ends in _total; ${name} does not`;
    defects.push({ rule: 'metrics.counter-name', offset, message });
  }
  if (kind !== 'Counter' && isTotal) {
    const message = `The name of a ${kind.toLowerCase()} ends in _total, as only those of counters do`;
    defects.push({ rule: 'metrics.total-name', offset, message });
  }
  const word =
    name
      .replace(/_total$/, '')
      .split('_')
      .at(-1) ?? '';
  const base = Object.hasOwn(BASE_UNITS, word) ? BASE_UNITS[word] : undefined;
  if (base !== undefined) {
    const message = `${name} is measured in ${word}; the base unit is ${base}`;
    defects.push({ rule: 'metrics.unit', offset, message });
  }
  const fault = styleFault(name, kind);
  if (fault !== undefined) defects.push({ rule: 'metrics.name', offset, message: `${name} ${fault}` });
  return defects;
}

function styleFault(name: string, kind: Instrument['kind']): string | undefined {
  if (name.includes(':')) return 'has a colon, which is kept for the names of recording rules';
  if (/[a-z][A-Z]/.test(name)) return 'is in camelCase; metrics are named in snake_case';
  const suffix = /_(count|sum|bucket)$/.exec(name)?.[1];
  if (suffix !== undefined && (kind === 'Histogram' || kind === 'Summary')) {
    return `ends in _${suffix}, which is what its own series end in`;
  }
  return new RegExp(`(^|_)${kind}(_|$)`, 'i').test(name)
    ? `names its own type, ${kind.toLowerCase()}`
    : undefined;
}

/** Names that a histogram and a summary use themselves. */
const RESERVED = { Histogram: 'le', Summary: 'quantile', Counter: undefined, Gauge: undefined };

function labelFaults({ labels, kind }: Instrument): Defect[] {
  return labels
    .filter(({ name }) => !VALID_LABEL.test(name) || name === RESERVED[kind])
    .map(({ name, place }) => {
      const message = `prom-client refuses the label ${name} when the metric is made`;
      return { rule: 'metrics.invalid-name', offset: place.start, message };
    });
}
