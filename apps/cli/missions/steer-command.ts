import { printable } from '@orrery/ralph-loop';
import type { CommandDeps } from '../command.ts';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';
import { NotAnswered, orderRun, whoOrders } from './order-run.ts';
import { readRuns } from './own-runs.ts';
import { repositoryMeant } from './repository-top.ts';
import { runToSteer } from './run-meant.ts';

const EXIT_FAILED = 1;

/** Orders to a whole mission, and to a task of one. */
type Whole = 'stop' | 'pause' | 'continue';
type OfTask = 'skip' | 'approve';

/** Runs `orrery stop`, `pause` and `continue`. Resolves to the exit code. */
export async function steerCommand(
  type: Whole,
  options: TypedOptions,
  [name]: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  return await steer({ type, by: whoOrders() }, { options, name, place: 'Argument NAME' }, deps);
}

/** Runs `orrery skip` and `orrery approve`. Resolves to the exit code. */
export async function steerTaskCommand(
  type: OfTask,
  options: TypedOptions,
  [task]: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  if (task === undefined) throw new UsageError(`Argument TASK is missing: 'orrery ${type} TASK'`);
  const { mission } = options;
  const name = mission === undefined ? undefined : String(mission);
  return await steer({ type, task, by: whoOrders() }, { options, name, place: 'Option "--mission"' }, deps);
}

interface Meant {
  readonly options: TypedOptions;
  readonly name: string | undefined;
  readonly place: string;
}

async function steer(
  order: Parameters<typeof orderRun>[1],
  { options, name, place }: Meant,
  { screen, errors }: CommandDeps,
): Promise<number> {
  const root = await repositoryMeant(options);
  const record = runToSteer(readRuns(root, process.env), { root, name, place });
  try {
    screen.write(`${printable(await orderRun(record, order))}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error;
    errors.write(`orrery: ${printable(error.message)}\n`);
    return EXIT_FAILED;
  }
}
