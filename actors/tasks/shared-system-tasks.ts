import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import type { System } from '../../runtime/public.ts';
import { openSystemTasks, type SystemTasksOptions } from './system-tasks.ts';
import type { TaskEngine } from './task-engine.ts';

interface Engine {
  readonly tasks: Promise<TaskEngine>;
  readonly firewall: FirewallGuard | undefined;
  users: number;
}

/** The tasks of a system are worked at by one engine, however many gateways serve it. */
const engines = new WeakMap<System, Engine>();
const closings = new WeakMap<System, Promise<void>>();

/** The engine of a system's tasks, and what stands before it. It is closed when all who use it have released it. */
export interface SystemTasksUse {
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
