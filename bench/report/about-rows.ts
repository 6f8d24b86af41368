import { percent } from '../machine/busyness.ts';
import type { Calibration } from '../machine/calibration.ts';
import type { BenchReport } from '../results/bench-report.ts';
import { round } from './number-text.ts';

const BYTES_A_GIB = 1_024 ** 3;

/** What is known before the first measurement, and after the last. */
export type About = Pick<BenchReport, 'startedAt' | 'effort' | 'machine' | 'versions' | 'busyness'> & {
  readonly calibration: { readonly start: Calibration; readonly end?: Calibration };
};

/** Where, what and how it was measured: a word and a line each. */
export function aboutRows(about: About): readonly (readonly [label: string, text: string])[] {
  const { startedAt, machine, versions, busyness, effort, calibration } = about;
  const packages = Object.entries(versions.packages).map(([name, version]) => `${name} ${version}`);
  return [
    ['When', startedAt],
    ['Machine', machineText(machine)],
    ['Versions', `Node ${versions.node}, V8 ${versions.v8}, Orrery ${orreryText(versions.orrery)}`],
    ...(packages.length === 0 ? [] : [['Packages', packages.join(', ')] as const]),
    ['Quiet', quietText(busyness)],
    ['Speed', speedText(calibration)],
    ['Effort', effortText(effort)],
  ];
}

function machineText({
  cpuModel,
  cores,
  usableCores,
  cpuLimit,
  memoryBytes,
  ...machine
}: About['machine']): string {
  return [
    `${cores} x ${cpuModel}`,
    ...(usableCores === cores ? [] : [`${usableCores} of them usable`]),
    ...(cpuLimit === undefined ? [] : [`limited to ${round(cpuLimit)} cores`]),
    `${round(memoryBytes / BYTES_A_GIB)} GiB`,
    `${machine.kernel} ${machine.arch}`,
    ...(machine.governor === undefined ? [] : [`governor ${machine.governor}`]),
  ].join(', ');
}

function orreryText({ version, commit, isDirty }: About['versions']['orrery']): string {
  const at = commit === undefined ? '' : ` at ${commit.slice(0, 8)}`;
  return `${version}${at}${isDirty === true ? ' with changes' : ''}`;
}

function quietText({ isQuiet, reasons, othersShare, load, watchedMs }: About['busyness']): string {
  if (!isQuiet) return `NO: ${reasons.join('; ')}`;
  return `yes: others took ${percent(othersShare)} of all cores in ${round(watchedMs / 1_000)} s, load ${load.toFixed(1)}`;
}

/** Speeds are indexes; 100 is the machine of `docs/benchmarks.md`. */
function speedText({ start, end }: About['calibration']): string {
  const of = ({ oneCore, allCores }: Calibration): string =>
    `${round(oneCore)} with one thread, ${round(allCores)} with one a core`;
  return end === undefined ? of(start) : `${of(start)}; at the end ${of(end)}`;
}

function effortText({ rounds, runMs, warmUpMs, processes }: About['effort']): string {
  const fresh = processes === 1 ? 'a process of its own' : `${processes} processes of its own`;
  return `${rounds} rounds of ${runMs} ms after ${warmUpMs} ms of warming up, each contender in ${fresh}`;
}
