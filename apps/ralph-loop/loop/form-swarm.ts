import type { SwarmSession } from 'orrery/swarm';
import { lostAnswer } from './lost-answer.ts';
import type { RunScope } from './run-scope.ts';
import type { TaskEvent } from './task-context.ts';
import { workInput } from './work-input.ts';
import type { WorkItem } from './work-item.ts';
import { tainted, taintOfAll } from './work-taint.ts';

/** The lease of an agent in a swarm, milliseconds. It may have to wait for the CPU pool before its first progress. */
const LEASE_MS = 300_000;

/** The key in a swarm's shared state for the run that formed it. */
const OF_RUN = 'mission-run';

/**
 * Forms a swarm for the items of one task; resolves to the event for it, and never rejects. Items that the swarm cannot do
 * are assigned one by one.
 */
export async function formSwarm(run: RunScope, items: readonly WorkItem[]): Promise<TaskEvent> {
  const { clock, team, signal, runId } = run;
  const [first] = items;
  const capabilities = items.map(({ capability }) => capability);
  const left = leftSwarm(run, items);
  if (left !== undefined) {
    signal.addEventListener('abort', () => void cancel(run, left.id), { once: true });
    const why = `the swarm of the run before works on ${capabilities.join(', ')}`;
    return { type: 'swarm.formed', swarmId: left.id, why, atMs: clock.now() };
  }
  try {
    const inputs = await Promise.all(items.map((item) => workInput(run, item, { signal })));
    const { id } = await team.loop.swarms.createSwarm(first?.title ?? '', capabilities, {
      plan: items.map((item, at) => ({
        id: item.id,
        description: item.title,
        requiredCapabilities: [item.capability],
        input: inputs[at]?.input,
      })),
      correlationId: first?.correlationId ?? '',
      ...(runId === undefined ? {} : { sharedState: { [OF_RUN]: runId } }),
      leaseMs: LEASE_MS,
      ...tainted(taintOfAll(inputs.map(({ taint }) => taint))),
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

/** Cancels swarms of other runs, which nobody waits for. */
export function endSwarmsOfOthers(run: RunScope): void {
  if (run.runId === undefined) return;
  for (const { id, sharedState } of run.team.loop.swarms.listActiveSwarms())
    if (OF_RUN in sharedState && sharedState[OF_RUN] !== run.runId) void cancel(run, id);
}

/** The swarm of this run from an earlier process, if it still runs or has done the items, so that no work is repeated. */
function leftSwarm({ team, runId }: RunScope, items: readonly WorkItem[]): SwarmSession | undefined {
  if (runId === undefined) return undefined;
  return team.loop.swarms
    .listSwarms()
    .findLast(
      (session) =>
        session.sharedState[OF_RUN] === runId && items.every((item) => comesToAnEnd(session, item.id)),
    );
}

function comesToAnEnd({ status, subTasks }: SwarmSession, itemId: string): boolean {
  const subTask = subTasks.find(({ id }) => id === itemId);
  if (subTask === undefined) return false;
  return subTask.status === 'completed' || (status !== 'completed' && status !== 'failed');
}

/** Cancels a swarm, which may be over already. */
const cancel = ({ team }: RunScope, swarmId: string): Promise<void> =>
  team.loop.swarms.cancelSwarm(swarmId, 'its mission is over').catch(() => undefined);
