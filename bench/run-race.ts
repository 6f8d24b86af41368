import {
  type Comparison,
  type Contender,
  type Effort,
  type Race,
  type Session,
  goalStatusOf,
  Unavailable,
} from './measurement.ts';
import type { ComparisonResult, ContenderResult, RaceResult } from './results.ts';
import { pairedRatios, spreadOf } from './statistics.ts';
import { within } from './within.ts';

const OPEN_MS = 15_000;
const RUN_MS = 15_000;
const CLOSE_MS = 5_000;
const WARM_UP_MS = 2_500;
const FIRST_COUNT = 64;

interface Lane {
  readonly contender: Contender;
  session: Session | undefined;
  readonly rates: (number | undefined)[];
  /** Microseconds of CPU for one operation, one a round. */
  readonly cpu: number[];
  count: number;
  failure?: string;
  unavailable?: string;
}

/** Runs a race: everybody warms up, then takes turns in an order that rotates with the round. */
export async function runRace(race: Race, effort: Effort): Promise<RaceResult> {
  const lanes: Lane[] = [];
  for (const contender of race.contenders) lanes.push(await openLane(contender, effort.runMs, race.openMs));
  for (let round = 0; round < effort.rounds; round++) {
    for (let turn = 0; turn < lanes.length; turn++) {
      const lane = lanes[(round + turn) % lanes.length];
      if (lane !== undefined) await takeTurn(lane);
    }
  }
  for (const lane of lanes) await close(lane);
  const { kind, name, title, unit } = race;
  const contenders = lanes.map(resultOf);
  const comparisons = race.comparisons.flatMap((comparison) => compare(comparison, lanes));
  return { kind, name, title, unit, contenders, comparisons };
}

async function openLane(contender: Contender, runMs: number, openMs = OPEN_MS): Promise<Lane> {
  try {
    const session = await within(openMs, `opening ${contender.name}`, contender.open());
    const lane: Lane = { contender, session, rates: [], cpu: [], count: FIRST_COUNT };
    await warmUp(lane, runMs);
    return lane;
  } catch (error) {
    const lane: Lane = { contender, session: undefined, rates: [], cpu: [], count: 0 };
    fail(lane, error);
    return lane;
  }
}

/**
 * Runs for a while, so that what is measured is compiled code, and sizes the runs on the way: every contender gets the
 * same time, not the same work.
 */
async function warmUp(lane: Lane, runMs: number): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const rate = await measure(lane);
    if (rate === undefined) return;
    const wanted = Math.max(FIRST_COUNT, Math.round((rate * runMs) / 1_000));
    const isSteady = wanted < lane.count * 1.5;
    lane.count = Math.min(wanted, lane.count * 8);
    if (isSteady && performance.now() - startMs > WARM_UP_MS) return;
  }
}

async function takeTurn(lane: Lane): Promise<void> {
  const beforeMs = lane.session?.cpuMs?.();
  lane.rates.push(await measure(lane));
  const afterMs = lane.session?.cpuMs?.();
  if (beforeMs !== undefined && afterMs !== undefined)
    lane.cpu.push(((afterMs - beforeMs) * 1_000) / lane.count);
}

/** Operations a second of one run, or undefined when the lane is out of the race. */
async function measure(lane: Lane): Promise<number | undefined> {
  if (lane.session === undefined) return undefined;
  const startMs = performance.now();
  try {
    await within(RUN_MS, `${lane.count} operations of ${lane.contender.name}`, lane.session.run(lane.count));
    return (lane.count * 1_000) / (performance.now() - startMs);
  } catch (error) {
    fail(lane, error);
    await close(lane);
    return undefined;
  }
}

/** A contender that failed is closed at once, so that what still runs of it disturbs nobody. */
async function close(lane: Lane): Promise<void> {
  const { session } = lane;
  lane.session = undefined;
  try {
    if (session !== undefined) await within(CLOSE_MS, `closing ${lane.contender.name}`, session.close());
  } catch (error) {
    fail(lane, error);
  }
}

function fail(lane: Lane, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof Unavailable) lane.unavailable = reason;
  else lane.failure ??= reason;
}

function resultOf({ contender, rates, cpu, failure, unavailable }: Lane): ContenderResult {
  const measured = rates.filter((rate) => rate !== undefined);
  return {
    contender: contender.name,
    rates: measured,
    perSecond: spreadOf(measured),
    ...(cpu.length === 0 ? {} : { cpuMicroseconds: spreadOf(cpu) }),
    ...(failure === undefined ? {} : { failure }),
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

function compare(comparison: Comparison, lanes: readonly Lane[]): readonly ComparisonResult[] {
  const ratesOf = (name: string) => lanes.find(({ contender }) => contender.name === name)?.rates ?? [];
  const [mine, theirs] = [ratesOf(comparison.contender), ratesOf(comparison.baseline)];
  const ratios = comparison.of === 'rate' ? pairedRatios(mine, theirs) : pairedRatios(theirs, mine);
  if (ratios.length === 0) return [];
  const ratio = spreadOf(ratios);
  return [{ ...comparison, ratio, goalStatus: goalStatusOf(ratio.median, comparison.goal) }];
}
