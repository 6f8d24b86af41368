import type { CataloguedContender, CataloguedRace } from '../catalogue.ts';
import { type Comparison, type Effort, Unavailable } from '../measurement.ts';
import { sharesOf } from '../pipelined.ts';
import type { ComparisonResult, ContenderResult, MemoryResult, RaceResult } from '../results/bench-report.ts';
import { goalStatusOf } from '../results/goal-status.ts';
import { pairedRatios, spreadOf } from '../statistics.ts';
import { OPEN_MS } from './contender-limits.ts';
import { ContenderProcess } from './contender-process.ts';
import type { RunTaken } from './contender-protocol.ts';
import { turnOrder } from './turn-order.ts';

/** One contender through the whole race: a run a round, or undefined where it was out of it. */
interface Lane {
  readonly contender: CataloguedContender;
  readonly runs: (RunTaken | undefined)[];
  readonly memory: MemoryResult[];
  process: ContenderProcess | undefined;
  opened: { readonly startBytes: number; readonly settledBytes: number } | undefined;
  failure?: string;
  unavailable?: string;
}

/**
 * Runs a race: each contender has a process of its own and warms up, then they take turns. With several processes they share
 * the rounds, and what differs between one process and the next is in the spread.
 */
export async function runRace(race: CataloguedRace, effort: Effort): Promise<RaceResult> {
  const lanes = race.contenders.map((contender): Lane => {
    return { contender, runs: [], memory: [], process: undefined, opened: undefined };
  });
  let round = 0;
  for (const share of sharesOf(effort.rounds, Math.min(effort.processes, effort.rounds))) {
    for (const lane of lanes) await open(lane, race, effort);
    for (const end = round + share; round < end; round++) {
      for (const turn of turnOrder(lanes.length, round)) await takeTurn(lanes[turn]);
    }
    for (const lane of lanes) await close(lane);
  }
  const { kind, name, title, unit } = race;
  const comparisons = race.comparisons.flatMap((comparison) => compare(comparison, lanes));
  return { kind, name, title, unit, contenders: lanes.map(resultOf), comparisons };
}

/** One that has failed is not tried again: what is wrong with it stands in the results. */
const isOut = ({ failure, unavailable }: Lane): boolean => failure !== undefined || unavailable !== undefined;

async function open(lane: Lane, race: CataloguedRace, { runMs, warmUpMs }: Effort): Promise<void> {
  if (isOut(lane)) return;
  const { name: contender, plugin } = lane.contender;
  const { name, openMs = OPEN_MS, onOneCore = false } = race;
  const order = { plugin: plugin.href, race: name, contender, openMs, runMs, warmUpMs };
  lane.process = new ContenderProcess(order, { onOneCore });
  await attempt(lane, async (process) => {
    const { startBytes, bytes } = await process.open();
    lane.opened = { startBytes, settledBytes: bytes };
  });
}

async function takeTurn(lane: Lane | undefined): Promise<void> {
  if (lane === undefined) return;
  const run = await attempt(lane, (process) => process.run());
  lane.runs.push(run === undefined ? undefined : takenOf(run));
}

const takenOf = ({ perSecond, cpuMicroseconds, childCpuMicroseconds, bytes }: RunTaken): RunTaken => ({
  perSecond,
  cpuMicroseconds,
  childCpuMicroseconds,
  bytes,
});

async function close(lane: Lane): Promise<void> {
  const { opened } = lane;
  const closed = await attempt(lane, (process) => process.close());
  lane.process = undefined;
  if (closed === undefined || opened === undefined) return;
  const endBytes = lane.runs.at(-1)?.bytes ?? opened.settledBytes;
  lane.memory.push({ ...opened, endBytes, peakBytes: closed.peakBytes });
}

/** A contender that fails is out of the race, and its process is gone: what still ran of it would disturb the others. */
async function attempt<Answer>(
  lane: Lane,
  act: (process: ContenderProcess) => Promise<Answer>,
): Promise<Answer | undefined> {
  if (lane.process === undefined) return undefined;
  try {
    return await act(lane.process);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof Unavailable) lane.unavailable = reason;
    else lane.failure ??= reason;
    lane.process = undefined;
    return undefined;
  }
}

function resultOf({ contender, runs, memory, failure, unavailable }: Lane): ContenderResult {
  const taken = runs.filter((run) => run !== undefined);
  return {
    contender: contender.name,
    ...(taken.length === 0 ? {} : measuredOf(taken)),
    ...(memory.length === 0 ? {} : { memory }),
    ...(failure === undefined ? {} : { failure }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

function measuredOf(taken: readonly RunTaken[]): Pick<ContenderResult, 'rate' | 'cpu' | 'childCpu'> {
  const series = (of: (run: RunTaken) => number) => ({
    rounds: taken.map(of),
    spread: spreadOf(taken.map(of)),
  });
  const childCpu = series(({ childCpuMicroseconds }) => childCpuMicroseconds);
  return {
    rate: series(({ perSecond }) => perSecond),
    cpu: series(({ cpuMicroseconds }) => cpuMicroseconds),
    ...(childCpu.rounds.every((value) => value === 0) ? {} : { childCpu }),
  };
}

function compare(comparison: Comparison, lanes: readonly Lane[]): readonly ComparisonResult[] {
  const { of, contender, baseline } = comparison;
  const quantity = of === 'cpu' ? ownCpuOf : ({ perSecond }: RunTaken) => perSecond;
  const runsOf = (name: string): readonly (number | undefined)[] =>
    lanes.find((lane) => lane.contender.name === name)?.runs.map((run) => run && quantity(run)) ?? [];
  const [mine, theirs] = [runsOf(contender), runsOf(baseline)];
  const rounds = of === 'time' ? pairedRatios(theirs, mine) : pairedRatios(mine, theirs);
  if (rounds.length === 0) return [];
  const ratio = { rounds, spread: spreadOf(rounds) };
  return [{ ...comparison, ratio, goalStatus: goalStatusOf(ratio.spread.median, comparison.goal) }];
}

/** Of the contender itself: whoever it has started to look at it is not counted. */
const ownCpuOf = ({ cpuMicroseconds, childCpuMicroseconds }: RunTaken): number =>
  cpuMicroseconds - childCpuMicroseconds;
