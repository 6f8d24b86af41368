import { isSameMachine } from '../machine/machine.ts';
import type { BenchReport } from '../results/bench-report.ts';

/** What differs between two runs besides what they measured, a sentence each. */
export function differencesBetween(before: BenchReport, after: BenchReport): readonly string[] {
  const [a, b] = [before.versions, after.versions];
  return [
    ...(isSameMachine(before.machine, after.machine)
      ? []
      : [`The machines differ: ${machineName(before)}, then ${machineName(after)}.`]),
    ...differing('Node', a.node, b.node),
    ...differing('Orrery', orreryName(a.orrery), orreryName(b.orrery)),
    ...Object.keys(a.packages).flatMap((name) => differing(name, a.packages[name], b.packages[name])),
    ...differing('The effort', effortName(before.effort), effortName(after.effort)),
  ];
}

const differing = (what: string, a: string | undefined, b: string | undefined): readonly string[] =>
  a === b || b === undefined ? [] : [`${what} was ${a}, then ${b}.`];

const machineName = ({ machine }: BenchReport): string => `${machine.usableCores} x ${machine.cpuModel}`;

const orreryName = ({ version, commit, isDirty }: BenchReport['versions']['orrery']): string =>
  `${version}${commit === undefined ? '' : ` at ${commit.slice(0, 8)}`}${isDirty === true ? ' with changes' : ''}`;

const effortName = ({ rounds, runMs, warmUpMs, processes }: BenchReport['effort']): string =>
  `${rounds} rounds of ${runMs} ms after ${warmUpMs} ms in ${processes} processes`;
