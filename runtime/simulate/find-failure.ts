import type { Arbitrary } from 'fast-check';
import { invalidOptions, isOrreryError, reasonOf } from '../protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from '../protocol/optional-packages.ts';
import type { System } from '../system/system.ts';
import type { PlannedFault } from './faults.ts';
import type { SimulationResult } from './run-simulation.ts';
import { type Case, type Command, MOST_AFTER_MS, shorten } from './shorten.ts';
import type { Fault, SimulateOptions, SimulationControls } from './simulate-options.ts';

/** What makes inputs: an arbitrary of fast-check, whose types nobody has to have who makes none. */
interface ArbitraryOf<Input> {
  generate(random: never, biasFactor: number | undefined): { readonly value: Input };
}

/** A kind of thing that an embedder may do: `input` makes what `run` is given, and makes it simpler. */
export interface CommandKind<Team, Input> {
  readonly input?: ArbitraryOf<Input>;
  run(team: Team, input: Input, simulation: SimulationControls): unknown;
}

/** What may go wrong between two commands: in a worker thread, with the whole process, or with the disk of its journal. */
export type BreakingCommand = PlannedFault['fault'];

/**
 * - `simulation`   what each run is made of, new each time: agents that keep something outside their state must not find
 *                  what an earlier run has left.
 * - `commands`     what may be done, by name. Each is begun in its turn, and not waited for.
 * - `breaking`     what may go wrong in between; `hostCrash` ends the process, and the next one is given the commands that
 *                  are left. @default crash and freeze
 * - `runs`         how many runs to make at most. @default 100
 * - `mostCommands` of one run. @default 20
 * - `seed`         of the commands and of every run's seed: the same one finds the same. @default 1
 */
export interface FindFailureOptions<Team extends System, Inputs extends Record<string, unknown>> {
  readonly simulation: () => Omit<SimulateOptions<Team>, 'run' | 'seed'>;
  readonly commands: { readonly [Name in keyof Inputs]: CommandKind<Team, Inputs[Name]> };
  readonly breaking?: readonly BreakingCommand[];
  readonly runs?: number;
  readonly mostCommands?: number;
  readonly seed?: number;
}

/**
 * A run that went wrong, and the shortest list of commands that it was found to take.
 *
 * - `seed`           of the simulation.
 * - `problems`       what did not hold, or what was thrown.
 * - `isReproducible` the same seed and commands gave the same trace again; false where agents use what is not theirs:
 *                    the clock, chance, what other runs have left.
 * - `report`         all that in a few lines.
 */
export interface Failure {
  readonly seed: number;
  readonly commands: readonly Command[];
  readonly problems: readonly string[];
  readonly result: SimulationResult | undefined;
  readonly isReproducible: boolean;
  readonly runs: number;
  readonly report: string;
}

/** With the inputs of its commands forgotten. */
type AnyOptions<Team extends System> = FindFailureOptions<Team, Record<string, unknown>>;

type Simulate<Team extends System> = (options: SimulateOptions<Team>) => Promise<SimulationResult>;

const LONGEST_WAIT_MS = 500;
const SHORT_WAIT_MS = 10;

/**
 * Tries lists of commands, made by fast-check, under seed after seed until a run goes wrong, and then shortens the list.
 * Resolves to undefined when all runs were well.
 *
 * Fails with PEERS_MISSING when fast-check is not installed.
 */
export async function findFailureWith<Team extends System, Inputs extends Record<string, unknown>>(
  simulate: Simulate<Team>,
  given: FindFailureOptions<Team, Inputs>,
): Promise<Failure | undefined> {
  requirePackages('findFailure()', PACKAGES_FOR.failureSearch);
  const fc = await import('fast-check');
  const options = given as unknown as AnyOptions<Team>;
  const { runs = 100, mostCommands = 20, seed = 1 } = options;
  const kinds = Object.entries(options.commands);
  if (kinds.length === 0) throw invalidOptions('commands', options.commands, 'at least one command');
  const command = fc.oneof(
    ...kinds.map(([name, { input }]) =>
      ((input as Arbitrary<unknown> | undefined) ?? fc.constant(null)).map(
        (drawn): Command => ({ name, input: drawn }),
      ),
    ),
    fc
      .oneof(fc.nat(SHORT_WAIT_MS), fc.nat(LONGEST_WAIT_MS))
      .map((ms): Command => ({ name: 'wait', input: ms })),
    ...breakingCommands(fc, options),
  );
  const cases = fc.record({
    seed: fc.noShrink(fc.integer({ min: 1, max: 2 ** 30 })),
    commands: fc.array(command, { maxLength: mostCommands, size: 'max' }),
  });
  const attempt = (one: Case): Promise<Attempt> => tryCase(simulate, options, one);
  const tried = await fc.check(
    fc.asyncProperty(cases, async (one) => (await attempt(one)).problems.length === 0),
    { seed, numRuns: runs, endOnFailure: true },
  );
  if (!tried.failed || tried.counterexample === null) return undefined;
  return describeFailure(attempt, await shorten(tried.counterexample[0], attempt), tried.numRuns);
}

/** What came of trying a case. */
export interface Attempt {
  readonly problems: readonly string[];
  readonly result: SimulationResult | undefined;
}

async function tryCase<Team extends System>(
  simulate: Simulate<Team>,
  { simulation, commands }: AnyOptions<Team>,
  { seed, commands: list }: Case,
): Promise<Attempt> {
  // Who gives the commands is not in the process that is killed: the next one is given those that are left.
  const left = [...list];
  try {
    const result = await simulate({
      ...simulation(),
      seed,
      run: (team, controls) => runCommands(left, commands, team, controls),
    });
    return { problems: problemsOf(result), result };
  } catch (error) {
    // Wrong options are no finding.
    if (isOrreryError(error) && error.code !== 'SIMULATION_ESCAPED') throw error;
    return { problems: [reasonOf(error)], result: undefined };
  }
}

/** Takes out of the list what it does. */
async function runCommands<Team>(
  left: Command[],
  kinds: Readonly<Record<string, CommandKind<Team, unknown>>>,
  team: Team,
  controls: SimulationControls,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const begin = (work: Promise<unknown>): void => {
    // What came of it is looked at when all have begun: it may fail before that, and is no failure nobody caught.
    work.catch(() => undefined);
    begun.push(work);
  };
  for (let command = left.shift(); command !== undefined; command = left.shift()) {
    const { name, input } = command;
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind !== undefined) begin(new Promise((resolve) => resolve(kind.run(team, input, controls))));
    else if (name === 'wait') await controls.sleep(input as number);
    else begin(causeLater(input as Breaking, controls));
  }
  for (const outcome of await Promise.allSettled(begun)) {
    // That an ask fails is what faults are for.
    if (outcome.status === 'rejected' && !isOrreryError(outcome.reason)) throw outcome.reason;
  }
}

interface Breaking {
  readonly afterMs: number;
  readonly fault: Fault;
}

/** Things go wrong in the middle of what is under way. */
async function causeLater({ afterMs, fault }: Breaking, { sleep, cause }: SimulationControls): Promise<void> {
  await sleep(afterMs);
  cause(fault);
}

function breakingCommands<Team extends System>(
  fc: typeof import('fast-check'),
  { simulation, breaking = ['crash', 'freeze'] }: AnyOptions<Team>,
): Arbitrary<Command>[] {
  const names = Array.from({ length: simulation().workers ?? 2 }, (_, at) => `worker-${at + 1}`);
  const place = fc.constantFrom(...names);
  const ms = fc.integer({ min: 1, max: 2_000 });
  const made: Record<BreakingCommand, Arbitrary<Fault>> = {
    crash: fc.record({ fault: fc.constant('crash' as const), place }),
    freeze: fc.record({ fault: fc.constant('freeze' as const), place, ms }),
    slow: fc.record({ fault: fc.constant('slow' as const), place, factor: fc.integer({ min: 1, max: 50 }) }),
    partition: fc.record({
      fault: fc.constant('partition' as const),
      places: fc.tuple(place, fc.constant('host')),
      ms,
    }),
    hostCrash: fc.record({ fault: fc.constant('hostCrash' as const) }),
    slowDisk: fc.record({ fault: fc.constant('slowDisk' as const), ms }),
    fullDisk: fc.record({ fault: fc.constant('fullDisk' as const), ms }),
  };
  const afterMs = fc.nat(MOST_AFTER_MS);
  return breaking.map((name) =>
    fc.record({ afterMs, fault: made[name] }).map((input): Command => ({ name, input })),
  );
}

function problemsOf({ violations, error, ending }: SimulationResult): readonly string[] {
  const isCut = ending === 'max-ms' || ending === 'max-steps' || ending === 'nothing-left';
  return [
    ...violations,
    ...(error === undefined ? [] : [reasonOf(error)]),
    ...(isCut ? [`It did not come to its end: ${ending}`] : []),
  ];
}

async function describeFailure(
  attempt: (one: Case) => Promise<Attempt>,
  found: Case,
  runs: number,
): Promise<Failure> {
  const { problems, result } = await attempt(found);
  const again = await attempt(found);
  const isReproducible = problems.length > 0 && result?.traceHash === again.result?.traceHash;
  const { seed, commands } = found;
  const lines = [
    `Seed ${seed} breaks it with ${commands.length} ${commands.length === 1 ? 'command' : 'commands'}, found in run ${runs}:`,
    ...commands.map((command) => `  ${textOf(command)}`),
    ...problems.map((problem) => `- ${problem}`),
    ...(isReproducible ? [] : ['It was not the same the second time: something in it comes from outside.']),
  ];
  return { seed, commands, problems, result, isReproducible, runs, report: lines.join('\n') };
}

function textOf({ name, input }: Command): string {
  if (input === null || input === undefined) return `${name}()`;
  if (typeof input !== 'object' || !('afterMs' in input)) return `${name}(${JSON.stringify(input)})`;
  const { afterMs, fault } = input as Breaking;
  const { fault: _kind, ...about } = fault;
  return `${name}(${JSON.stringify({ afterMs, ...about })})`;
}
