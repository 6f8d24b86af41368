import { z } from 'zod';
import type { Approver } from '../../runtime/protocol/approval.ts';
import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { parseOptions, requireMethod } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { System } from '../../runtime/public.ts';
import { AgentTurns } from './agent-turns.ts';
import { approveWith, hasApprover, heedOwners } from './approvals.ts';
import { guardedTurns } from './guarded-turns.ts';
import { JournalledTaskLog } from './journalled-task-log.ts';
import { TaskEngine, type TaskLimits } from './task-engine.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { noteAt } from '../../runtime/protocol/told-failure.ts';

const HOUR_MS = 60 * 60 * 1_000;
/** `limits`, `approver`, `firewall` and `seams` are looked at where they are used. */
const Options = z.strictObject({
  limits: z.unknown().optional(),
  approver: z.unknown().optional(),
  firewall: z.unknown().optional(),
  seams: z.unknown().optional(),
  turnMs: z.number().positive().default(HOUR_MS),
});

/**
 * - `limits`   @default those of `TaskLimits`
 * - `approver` is asked for what agents want to have approved. @default whoever owns the task
 * - `firewall` decides what owners may use, and how what agents say is kept. @default the rules alone
 * - `seams`    @default those of the system
 * - `turnMs`   how long an agent may work at one message whose terms do not say, milliseconds. @default an hour
 */
export interface SystemTasksOptions {
  readonly limits?: TaskLimits;
  readonly approver?: Approver;
  readonly firewall?: FirewallGuard;
  readonly turnMs?: number;
  readonly seams?: Seams;
}

/** How many characters of a message id are shown: it is foreign text. */
const ID_SHOWN = 64;

/**
 * The tasks of a running system: its agents work at them. In a system with a journal they outlive the process, and this goes
 * on with what former ones have left. One at a time; close it before the system stops.
 *
 * Fails with INVALID_OPTIONS, and with what the journal fails with.
 */
export async function openSystemTasks(system: System, options: SystemTasksOptions = {}): Promise<TaskEngine> {
  requireMethod('system', system, 'client', 'a system of startSystem');
  const { turnMs } = parseOptions(Options, options, 'tasks');
  const { limits = {}, approver, firewall, seams: given } = options;
  const client = await system.client();
  if (approver !== undefined) await approveWith(system, approver);
  const isKept = client.records !== undefined;
  const seams = given ?? client.seams;
  const note = noteAt(client);
  const turns = new AgentTurns({
    client,
    cardOf: (agentId) => system.registry.getById(agentId),
    isKept,
    hasApprover: () => hasApprover(client),
    turnMs,
    note,
  });
  heedOwners(client, turns.takeGiven);
  const onProblem = (reason: string): void =>
    client.note({
      type: 'error',
      agentId: client.agentId,
      errorCode: 'STORE_FAILED',
      reason,
      success: false,
    });
  const onReusedId = (agentId: string, messageId: string): void => {
    const id = JSON.stringify(messageId.slice(0, ID_SHOWN));
    const reason = `The message id ${id} came again with other content: that is a message of its own`;
    client.note({ type: 'error', agentId, errorCode: 'INVALID_OPTIONS', reason, success: false });
  };
  const log = isKept
    ? new JournalledTaskLog({
        records: system.records,
        onProblem: (key, why) => {
          const reason = `Of a task that was left, "${key}" cannot be read: ${why}`;
          client.note({
            type: 'error',
            agentId: client.agentId,
            errorCode: 'STORE_INVALID',
            reason,
            success: false,
          });
        },
      })
    : undefined;
  const { check, mayAnswer, onRestart } = turns;
  const { run, answer } =
    firewall === undefined ? turns : guardedTurns(turns, { firewall, newId: seams.newId, note });
  return TaskEngine.open({
    seams,
    limits,
    run,
    check,
    answer: (asked) => answer(asked)?.(),
    mayAnswer,
    onRestart,
    onProblem,
    onReusedId,
    note,
    steps: client.steps,
    ...(log && { log }),
  });
}

interface Engine {
  readonly tasks: Promise<TaskEngine>;
  readonly firewall: FirewallGuard | undefined;
  users: number;
}

/** The tasks of a system are worked at by one engine, however many gateways serve it. */
const engines = new WeakMap<System, Engine>();
const closings = new WeakMap<System, Promise<void>>();

/** The engine of a system's tasks, and what stands before it. It is closed when all who use it have released it. */
interface SystemTasksUse {
  readonly tasks: TaskEngine;
  readonly firewall: FirewallGuard | undefined;
  release(): Promise<void>;
}

/**
 * As `openSystemTasks`, for one of several who need the same tasks. Fails with INVALID_OPTIONS for options of tasks that
 * somebody uses already.
 */
export async function useSystemTasks(system: System, options: SystemTasksOptions): Promise<SystemTasksUse> {
  const known = engines.get(system);
  if (known !== undefined && Object.keys(options).length > 0)
    throw invalidOptions('tasks', options, 'none, no approver and no firewall: the system is served already');
  const former = closings.get(system) ?? Promise.resolve();
  const { firewall } = options;
  const shared = known ?? { tasks: former.then(() => openSystemTasks(system, options)), firewall, users: 0 };
  engines.set(system, shared);
  shared.users += 1;
  const release = async (): Promise<void> => {
    shared.users -= 1;
    if (shared.users > 0) return;
    engines.delete(system);
    const closing = shared.tasks.then((tasks) => tasks.close());
    // Whoever serves the system next waits for it, whatever becomes of it.
    closings.set(
      system,
      closing.catch(() => undefined),
    );
    await closing;
  };
  try {
    return { tasks: await shared.tasks, firewall: shared.firewall, release };
  } catch (error) {
    engines.delete(system);
    throw error;
  }
}
