import {
  capabilitiesOf,
  type LoopEvent,
  type Mission,
  MissionError,
  missingLoopAgents,
  openProgress,
  REPOSITORY_ROOT,
  runMission,
} from '@orrery/ralph-loop';
import { AgentDefinition, isOrreryError } from 'orrery';
import type {
  Faults,
  SimulatedAgent,
  SimulatedTeam,
  SimulateOptions,
  SimulationResult,
} from 'orrery/simulate';
import { readCount, readWorkers } from './option-values.ts';
import { auditApp } from './audit-app.ts';
import { missionMeant } from './mission-meant.ts';
import { OutputFile } from './output-file.ts';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

const DEFAULT_SEEDS = 20;
const DEFAULT_WORKERS = 2;

/** A few of each fault in every run. A task of the audit is one envelope, so faults must be likely to hit one. */
const FAULTS: Faults = {
  crash: { probability: 0.004, most: 4 },
  freeze: { probability: 0.002, most: 4 },
  slow: { probability: 0.2 },
  delay: { probability: 0.05 },
  partition: { probability: 0.002, most: 4 },
  handler: { probability: 0.02, most: 4 },
  hostCrash: { probability: 0.005, most: 2 },
  slowDisk: { probability: 0.05, ms: [10, 1_000] },
  fullDisk: { probability: 0.01, ms: [10, 3_000], most: 2 },
};

/** The checked options of `orrery simulate`. */
interface SimulatePlan {
  readonly mission: Mission;
  readonly root: string;
  readonly agents: readonly SimulatedAgent[];
  readonly firstSeed: number;
  readonly seeds: number;
  readonly workers: number;
  readonly record: OutputFile | undefined;
}

/**
 * Runs `orrery simulate`. Resolves to the exit code, 1 if a seed breaks a promise.
 *
 * The planets' tools really run, once, before the first seed. Offloaded modules really run once for each input. All seeds get
 * the same results.
 */
export async function simulateCommand(
  options: TypedOptions,
  positionals: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  const plan = await planSimulation(options, positionals);
  try {
    return await simulateSeeds(plan, deps);
  } finally {
    plan.record?.discard();
  }
}

async function planSimulation(options: TypedOptions, positionals: readonly string[]): Promise<SimulatePlan> {
  const seeds = readCount('--seeds', options['seeds']) ?? DEFAULT_SEEDS;
  const firstSeed = readCount('--first-seed', options['first-seed']) ?? 1;
  const workers = readWorkers(options['workers']) ?? DEFAULT_WORKERS;
  const { root, mission, agents } = await missionMeant(options, positionals);
  const path = options['record'];
  const record = path === undefined ? undefined : new OutputFile('--record', String(path));
  const team = await withLoopAgents(agents as readonly SimulatedAgent[]);
  return { mission, root, agents: team, firstSeed, seeds, workers, record };
}

/** Adds SUN and MERCURY, unless other agents have their capabilities. Agents must be loaded before time is virtual. */
async function withLoopAgents(agents: readonly SimulatedAgent[]): Promise<readonly SimulatedAgent[]> {
  const capabilities: string[] = [];
  for (const agent of agents) {
    if (!('module' in agent)) continue;
    // `simulate` reports a module that cannot be loaded.
    const exported = (await import(agent.module.href).catch(() => ({}))) as Record<string, unknown>;
    for (const value of Object.values(exported))
      if (value instanceof AgentDefinition) capabilities.push(...value.handlers.keys());
  }
  return [...agents, ...missingLoopAgents([{ capabilities }]).map(({ module }) => ({ module }))];
}

async function simulateSeeds(
  plan: SimulatePlan,
  { screen, errors, interruption }: CommandDeps,
): Promise<number> {
  const { mission, root, firstSeed, seeds, record } = plan;
  // Loaded only for simulations.
  const { simulate } = await import('orrery/simulate');
  const needed = new Set(mission.tasks.flatMap(capabilitiesOf));
  const audit = await auditApp();
  const effects = {
    // MERCURY calls it in every mission.
    [REPOSITORY_ROOT]: () => ({ root }),
    ...(await audit?.auditEffects(root, needed, interruption.signal)),
  };
  const remembered = new Map<string, unknown>();
  const endings = new Map<string, number>();
  const broken: number[] = [];
  let tried = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds && !interruption.signal.aborted; seed++) {
    const result = await simulate({ ...missionUnder(plan, seed, effects), remembered }).catch(explainEffect);
    tried += 1;
    if (result.error instanceof MissionError) throw result.error;
    const problems = problemsOf(result);
    const ending = stopReasonOf(result.value) ?? 'no outcome';
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
    if (problems.length === 0) continue;
    broken.push(seed);
    screen.write(`${[`Seed ${seed}:`, ...problems.map((problem) => `  ${problem}`)].join('\n')}\n`);
    if (broken.length > 1 || record === undefined) continue;
    record.write(result.trace());
    record.commit();
    if (record.failure !== undefined)
      errors.write(`orrery: The trace could not be written: ${record.failure}\n`);
  }
  const came = [...endings].map(([ending, count]) => `${ending} ${count}`).join(', ');
  screen.write(`"${mission.name}" under ${tried} seeds: ${came}\n`);
  screen.write(broken.length === 0 ? 'No seed broke a promise\n' : `Broken by ${broken.join(', ')}\n`);
  if (interruption.signalNumber !== undefined) return 128 + interruption.signalNumber;
  return broken.length === 0 ? 0 : 1;
}

/** The options for one seed. The mission is resumed when its process is killed; no task may be accepted twice. */
function missionUnder(
  { mission, root, agents, workers }: SimulatePlan,
  seed: number,
  effects: Required<SimulateOptions>['effects'],
): SimulateOptions {
  const accepted: string[] = [];
  let hasProgress = false;
  return {
    agents,
    seed,
    workers,
    faults: FAULTS,
    journal: true,
    effects,
    invariants: [
      () => {
        const twice = accepted.find((task, at) => accepted.indexOf(task) < at);
        return twice === undefined ? undefined : `The task ${twice} was accepted twice`;
      },
    ],
    run: async (team: SimulatedTeam, { clock }) => {
      const progress = await openProgress(team.records, mission, { root, isResumed: hasProgress });
      hasProgress = true;
      const onEvent = (event: LoopEvent): void => {
        if (event.type !== 'task.changed' || event.status !== 'accepted') return;
        // A resumed run repeats the event for tasks that were accepted before.
        if (!progress.accepted.has(event.task)) accepted.push(event.task);
      };
      return runMission(mission, { root, onEvent }, { team, clock, progress });
    },
  };
}

/** Rethrows an error. If it names a missing effect, the error says what to do about it here. */
function explainEffect(error: unknown): never {
  const field = isOrreryError(error) && error.code === 'INVALID_OPTIONS' ? error.details['field'] : undefined;
  const name =
    typeof field === 'string' ? /^effects\.(?<name>.+)$/s.exec(field)?.groups?.['name'] : undefined;
  if (name === undefined) throw error;
  throw new UsageError(
    [
      `An agent calls ctx.effect('${name}'), and this command does not know what comes of it.`,
      `Do that in a module of its own, that ctx.offload runs: here it is really run, once for each input.`,
      `Or write a program with simulate({ effects: { '${name}': () => … } }) of orrery/simulate, which answers instead.`,
    ].join('\n'),
  );
}

function problemsOf({ violations, error, ending }: SimulationResult): readonly string[] {
  const isCut = ending === 'max-ms' || ending === 'max-steps' || ending === 'nothing-left';
  return [
    ...violations,
    ...(error === undefined
      ? []
      : [`The mission failed: ${error instanceof Error ? error.message : String(error)}`]),
    ...(isCut ? [`The mission did not come to an end (${ending})`] : []),
  ];
}

const stopReasonOf = (outcome: unknown): string | undefined =>
  (outcome as { readonly stopReason?: string } | undefined)?.stopReason;
