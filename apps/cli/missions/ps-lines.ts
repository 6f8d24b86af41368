import { duration, isBusy, isDone, isOver, printable, table } from '@orrery/ralph-loop';
import { costOf, type MissionTally, type TaskTally } from './mission-tally.ts';
import type { RunEnd } from './run-record.ts';

interface RunFacts {
  readonly mission: string;
  readonly file?: string;
  readonly pid: number;
  readonly startedAtMs: number;
}

/** A run as `orrery ps` shows it. - `why` it does not answer, or its record is not used. */
export type ShownRun =
  | ({ readonly status: 'running'; readonly state?: MissionTally; readonly why?: string } & RunFacts)
  | ({ readonly status: 'ended' | 'died'; readonly ended?: RunEnd } & RunFacts)
  | { readonly status: 'foreign'; readonly mission: string; readonly file: string; readonly why: string };

/** Formats the runs of a repository as text. */
export function runLines(
  runs: readonly ShownRun[],
  { root, nowMs }: { readonly root: string; readonly nowMs: number },
): string[] {
  const lines =
    runs.length === 0
      ? [`No mission was run in ${root}`]
      : runs.flatMap((run) => [headOf(run, nowMs), ...detailsOf(run)]);
  return lines.map(printable);
}

function headOf(run: ShownRun, nowMs: number): string {
  const { mission, status } = run;
  const since = (atMs: number): string => duration(Math.max(0, nowMs - atMs));
  switch (status) {
    case 'foreign':
      return `${mission}: the record ${run.file} is not used: ${run.why}`;
    case 'running':
      return `${mission}: ${wayOf(run.state)}, process ${run.pid}, for ${since(run.startedAtMs)}`;
    case 'died':
      return `${mission}: its process ${run.pid} died; it began ${since(run.startedAtMs)} ago; 'orrery resume' goes on with it`;
    case 'ended': {
      const { stopReason, endedAtMs, exitCode } = run.ended ?? {};
      return `${mission}: ended ${since(endedAtMs ?? nowMs)} ago, ${stopReason}, exit code ${exitCode}`;
    }
  }
}

const wayOf = (state: MissionTally | undefined): string =>
  state?.pausedBy === undefined ? 'running' : `paused by ${state.pausedBy}`;

function detailsOf(run: ShownRun): string[] {
  if (run.status !== 'running') return [];
  const { state, why } = run;
  if (state === undefined) return [`  ${why ?? ''}`];
  const busy = state.tasks.filter(({ status }) => isBusy(status));
  return [
    `  ${countsOf(state)}`,
    `  goes on: ${state.why}`,
    ...table(
      busy.map((task) => [task.id, task.status, whoOf(task), whatOf(task)]),
      '  ',
    ),
  ];
}

function countsOf(state: MissionTally): string {
  const { tasks } = state;
  const done = tasks.filter(({ status }) => isDone(status)).length;
  const lost = tasks.filter(({ status }) => isOver(status) && !isDone(status));
  const cost = costOf(state);
  return [
    `${done} of ${tasks.length} tasks accepted`,
    ...(lost.length === 0 ? [] : [`lost: ${lost.map(({ id, status }) => `${id} ${status}`).join(', ')}`]),
    ...(cost === 0 ? [] : [dollars(cost)]),
  ].join('; ');
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;

const whoOf = ({ agent, attempt }: TaskTally): string =>
  agent === undefined ? '' : `${agent}, attempt ${attempt}`;

/** What a task in hand is about, and for one that waits for people what they may do. */
function whatOf({ id, status, doing, file, gate, costUsd, why }: TaskTally): string {
  if (status === 'held') return `waits for 'orrery approve ${id}'`;
  const parts = [
    doing ?? why,
    ...(file === undefined || doing?.includes(file) === true ? [] : [file]),
    ...(gate === undefined ? [] : [`gate ${gate}`]),
    ...(costUsd === 0 ? [] : [dollars(costUsd)]),
  ];
  return parts.filter((part) => part !== '').join('; ');
}
