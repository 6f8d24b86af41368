import { fitName, nearest, printable } from '@orrery/ralph-loop';
import { resolve } from 'node:path';
import { UsageError } from '../usage-error.ts';
import type { FoundRun } from './run-folder.ts';
import { isFinished, type RunRecord } from './run-record.ts';
import { howItEnded, runsAlready } from './unfinished-run.ts';

/**
 * What was typed to say which run is meant.
 *
 * - `root`  of the repository.
 * - `name`  of the mission, or its file; undefined if it was left out.
 * - `place` where the name is typed, for the error when it has to be.
 */
export interface TypedRun {
  readonly root: string;
  readonly name: string | undefined;
  readonly place: string;
}

/** The run that is to be steered: the one of that name, or the only one that runs. Throws UsageError. */
export function runToSteer(runs: readonly FoundRun[], { root, name, place }: TypedRun): RunRecord {
  if (name !== undefined) {
    const run = runNamed(runs, name, { root, place });
    if (run.status === 'running') return run.record;
    throw new UsageError(`"${run.record.mission}" does not run in ${root}: ${pastOf(run.record)}`);
  }
  const running = runs.flatMap((run) => (run.kind === 'own' && run.status === 'running' ? [run.record] : []));
  return theOnly(running, { root, place }, () => {
    const last = runs.find((run) => run.kind === 'own');
    const past = last === undefined ? '' : `; "${last.record.mission}": ${pastOf(last.record)}`;
    return `No mission runs in ${root}${past}`;
  });
}

/** The run that is to be resumed: the one of that name, or the only one that was not finished. Throws UsageError. */
export function runToResume(runs: readonly FoundRun[], { root, name, place }: TypedRun): RunRecord {
  const own = runs.filter((run) => run.kind === 'own');
  if (name !== undefined) {
    const { record, status } = runNamed(runs, name, { root, place });
    if (status === 'running') throw new UsageError(runsAlready(record));
    if (isFinished(record)) throw new UsageError(finished(record));
    return record;
  }
  const unfinished = own.filter(({ record, status }) => status !== 'running' && !isFinished(record));
  return theOnly(
    unfinished.map(({ record }) => record),
    { root, place },
    () => {
      const running = own.find(({ status }) => status === 'running');
      if (running !== undefined) return runsAlready(running.record);
      const [last] = own;
      if (last !== undefined) return finished(last.record);
      const [foreign] = runs.flatMap((run) => (run.kind === 'foreign' ? [run] : []));
      return foreign === undefined ? `No mission was run in ${root}` : cannotBeUsed(foreign);
    },
  );
}

type OwnRun = Extract<FoundRun, { readonly kind: 'own' }>;
type ForeignRun = Extract<FoundRun, { readonly kind: 'foreign' }>;

function runNamed(
  runs: readonly FoundRun[],
  name: string,
  { root, place }: Pick<TypedRun, 'root' | 'place'>,
): OwnRun {
  const own = runs.filter((run) => run.kind === 'own');
  const found =
    own.find(({ record }) => record.mission === name) ??
    own.find(({ record }) => fitName(record.mission) === fitName(name)) ??
    own.find(({ record }) => record.file === resolve(name));
  if (found !== undefined) return found;
  const foreign = runs.find((run) => run.kind === 'foreign' && run.name === fitName(name));
  if (foreign?.kind === 'foreign') throw new UsageError(cannotBeUsed(foreign));
  const names = own.map(({ record }) => record.mission);
  const meant = nearest(name, names);
  const hint = meant === undefined ? listed(names) : `; did you mean "${meant}"?`;
  throw new UsageError(`${place} is "${name}": no such mission was run in ${root}${hint}`);
}

function theOnly(
  records: readonly RunRecord[],
  { root, place }: Pick<TypedRun, 'root' | 'place'>,
  none: () => string,
): RunRecord {
  const [first, ...others] = records;
  if (first === undefined) throw new UsageError(none());
  if (others.length === 0) return first;
  const names = records.map(({ mission }) => mission);
  throw new UsageError(`${place} is missing: there are several missions in ${root}${listed(names)}`);
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? '' : `: ${names.map((name) => `"${name}"`).join(', ')}`;

const pastOf = (record: RunRecord): string =>
  isFinished(record) ? howItEnded(record) : `${howItEnded(record)}; 'orrery resume' goes on with it`;

const finished = ({ mission }: RunRecord): string =>
  `Nothing is to be resumed: "${mission}" ended with everything accepted`;

const cannotBeUsed = ({ file, why }: ForeignRun): string =>
  printable(`The record ${file} is not used: ${why}`);
