import { type Capability, capability } from 'orrery';
import { fromCallback } from 'xstate';
import { z } from 'zod';
import { awaitSwarm } from './await-swarm.ts';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, inputOf, type RunScope } from './run-scope.ts';
import type { WorkOrder } from './task.machine.ts';
import { taskAnswer } from './task-answer.ts';
import type { TaskEvent } from './task-context.ts';

/**
 * The actor of a task that is worked at: asks its agent, or follows it in a swarm. It stops when the task's machine leaves
 * the state.
 */
export const askAgent = (run: RunScope) =>
  fromCallback<TaskEvent, WorkOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    const { item, swarmId } = input;
    if (swarmId === undefined) void work(run, input, left.signal).then(sendBack);
    else awaitSwarm(run, { swarmId, itemId: item.id }, { tell: sendBack, signal: left.signal });
    return () => left.abort();
  });

/** Asks the agent; resolves to the event for its answer or failure. */
async function work(run: RunScope, order: WorkOrder, signal: AbortSignal): Promise<TaskEvent> {
  const { item, to, feedback } = order;
  const { clock, team, tell } = run;
  try {
    const output = await team.loop.ask(
      { agent: to.agent, capability: anyPayload(item.capability) },
      { ...inputOf(run, item), ...(feedback === undefined ? {} : { feedback }) },
      {
        timeoutMs: askTimeoutMs(run),
        signal,
        correlationId: item.correlationId,
        whenFull: 'park',
        onProgress: ({ fraction, note }) =>
          tell({ type: 'task.progress', task: item.id, agent: to.agent, fraction, note }),
      },
    );
    return taskAnswer(output, clock.now());
  } catch (error) {
    return { type: 'agent.lost', answer: lostAnswer(error), atMs: clock.now() };
  }
}

/** A capability with any payload: the loop knows only names. Payloads are validated where they are handled. */
const anyPayload = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });
