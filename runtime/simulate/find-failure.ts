import type { Arbitrary } from 'fast-check';
import { invalidOptions, isOrreryError, reasonOf } from '../protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from '../protocol/optional-packages.ts';
import type { System } from '../system/system.ts';
import type { PlannedFault } from './faults.ts';
import type { SimulationResult } from './run-simulation.ts';
import { type Case, type Command, MOST_AFTER_MS, shorten } from './shorten.ts';
import type { Fault, SimulateOptions, SimulationControls } from './simulate-options.ts';

/** An arbitrary of fast-check. Its types are not imported, so that callers without inputs need not install it. */
interface ArbitraryOf<Input> {
  generate(random: never, biasFactor: number | undefined): { readonly value: Input };
}

/** A kind of command. `input` generates the input of `run`, and shrinks it. */
export interface CommandKind<Team, Input> {
  readonly input?: ArbitraryOf<Input>;
  run(team: Team, input: Input, simulation: SimulationControls): unknown;
}

/** A fault between two commands: of a worker thread, the whole process, or the journal's disk. */
export type BreakingCommand = PlannedFault['fault'];

/**
 * Options of `findFailure`.
 *
 * - `simulation`   makes the options of each run anew, so that agents with state outside do not find that of an earlier run.
 * - `commands`     the commands, by name. Each is started in its turn, and not waited for.
 * - `breaking`     faults to inject in between. After a `hostCrash` the next process gets the remaining commands. @default
 *                  crash and freeze
 * - `runs`         most runs. @default 100
 * - `mostCommands` most commands of one run. @default 20
 * - `seed`         of the search; the same seed finds the same failure. @default 1
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
 * A run that failed, with the shortest list of commands found that makes it fail.
 *
 * - `seed`           of the simulation.
 * - `problems`       invariants that did not hold, or what was thrown.
 * - `isReproducible` a second run had the same trace. False if agents depend on the clock, on chance, or on state of other
 *                    runs.
 * - `runs`           runs until it was found.
 * - `report`         a summary of a few lines.
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

/** The options, without the types of inputs. */
type AnyOptions<Team extends System> = FindFailureOptions<Team, Record<string, unknown>>;

type Simulate<Team extends System> = (options: SimulateOptions<Team>) => Promise<SimulationResult>;

const LONGEST_WAIT_MS = 500;
const SHORT_WAIT_MS = 10;

/**
 * Runs random lists of commands, made by fast-check, until a run fails; then shortens the list. Resolves to undefined if no
 * run fails.
 *
 * Rejects with PEERS_MISSING if fast-check is not installed.
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

/** The result of one run. */
export interface Attempt {
  readonly problems: readonly string[];
  readonly result: SimulationResult | undefined;
}

async function tryCase<Team extends System>(
  simulate: Simulate<Team>,
  { simulation, commands }: AnyOptions<Team>,
  { seed, commands: list }: Case,
): Promise<Attempt> {
  // Outlives the simulated process: the next one gets the remaining commands.
  const left = [...list];
  try {
    const result = await simulate({
      ...simulation(),
      seed,
      run: (team, controls) => runCommands(left, commands, team, controls),
    });
    return { problems: problemsOf(result), result };
  } catch (error) {
    // Wrong options are no failure of the team.
    if (isOrreryError(error) && error.code !== 'SIMULATION_ESCAPED') throw error;
    return { problems: [reasonOf(error)], result: undefined };
  }
}

/** Runs commands, and removes them from the list. */
async function runCommands<Team>(
  left: Command[],
  kinds: Readonly<Record<string, CommandKind<Team, unknown>>>,
  team: Team,
  controls: SimulationControls,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  const begin = (work: Promise<unknown>): void => {
    // Keeps it from being an unhandled rejection: outcomes are checked once all commands have started.
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
    // Asks may fail under faults.
    if (outcome.status === 'rejected' && !isOrreryError(outcome.reason)) throw outcome.reason;
  }
}

interface Breaking {
  readonly afterMs: number;
  readonly fault: Fault;
}

/** Causes a fault while commands are under way. */
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
