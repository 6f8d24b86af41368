import { lostAnswer } from './lost-answer.ts';
import type { RunScope } from './run-scope.ts';
import type { TaskEvent } from './task-context.ts';
import type { WorkItem } from './work-item.ts';

/**
 * How long an agent of a swarm may be silent: it may wait for its turn in the CPU pool before its first sign of progress,
 * and is replaced only if it gives none at all.
 */
const LEASE_MS = 300_000;

/**
 * Hands the items of one task, which needs several capabilities, to a swarm; never rejects. What it cannot do, each item
 * goes on with by itself.
 */
export async function formSwarm(run: RunScope, items: readonly WorkItem[]): Promise<TaskEvent> {
  const { clock, team, root, signal } = run;
  const [first] = items;
  const capabilities = items.map(({ capability }) => capability);
  try {
    const { id } = await team.swarms.createSwarm(first?.title ?? '', capabilities, {
      plan: items.map((item) => ({
        id: item.id,
        description: item.title,
        requiredCapabilities: [item.capability],
        input: { ...item.input, root },
      })),
      correlationId: first?.correlationId ?? '',
      leaseMs: LEASE_MS,
      signal,
    });
    return {
      type: 'swarm.formed',
      swarmId: id,
      why: `a swarm works on ${capabilities.join(', ')}`,
      atMs: clock.now(),
    };
  } catch (error) {
    return { type: 'agent.missing', why: `no swarm could be formed: ${lostAnswer(error).reason}` };
  }
}
