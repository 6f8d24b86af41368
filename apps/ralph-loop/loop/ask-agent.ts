import { type Capability, capability } from 'orrery';
import { CodingEvent } from 'orrery/coding';
import { fromCallback } from 'xstate';
import { z } from 'zod';
import { awaitSwarm } from './await-swarm.ts';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, type RunScope } from './run-scope.ts';
import type { WorkOrder } from './task.machine.ts';
import { taskAnswer } from './task-answer.ts';
import type { TaskEvent } from './task-context.ts';
import { workInput } from './work-input.ts';
import { tainted, taintOfAll } from './work-taint.ts';

/**
 * The actor of a task that is worked at: asks its agent, or follows it in a swarm. It stops when the task's machine leaves
 * the state.
 */
export const askAgent = (run: RunScope) =>
  fromCallback<TaskEvent, WorkOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    const { item, swarmId } = input;
    const hear = { tell: sendBack, signal: left.signal };
    if (swarmId === undefined) void work(run, input, hear).then(sendBack);
    else awaitSwarm(run, { swarmId, itemId: item.id }, hear);
    return () => left.abort();
  });

interface Hearing {
  readonly tell: (event: TaskEvent) => void;
  readonly signal: AbortSignal;
}

/** Asks the agent; resolves to the event for its answer or failure. */
async function work(run: RunScope, order: WorkOrder, hear: Hearing): Promise<TaskEvent> {
  const { item, to, feedback, attempt } = order;
  const { clock, team, tell } = run;
  try {
    const { input, taint } = await workInput(run, item, { signal: hear.signal, attempt });
    const output = await team.loop.ask(
      { agent: to.agent, capability: anyPayload(item.capability) },
      { ...input, ...(feedback === undefined ? {} : { feedback }) },
      {
        timeoutMs: askTimeoutMs(run),
        signal: hear.signal,
        correlationId: item.correlationId,
        whenFull: 'park',
        ...tainted(taintOfAll([taint, order.taint])),
        onTaint: (sources) => hear.tell({ type: 'work.tainted', taint: sources }),
        onProgress: ({ fraction, note, report }) => {
          if (report === undefined)
            tell({ type: 'task.progress', task: item.id, agent: to.agent, fraction, note });
          else if (item.code !== undefined) tellCoding(run, order, report);
        },
      },
    );
    return taskAnswer(output, clock.now());
  } catch (error) {
    return { type: 'agent.lost', answer: lostAnswer(error), atMs: clock.now() };
  }
}

/** Tells what a coding agent does. What is no such event is somebody else's report. */
function tellCoding({ tell }: RunScope, { item, to }: WorkOrder, report: unknown): void {
  const { data: event } = CodingEvent.safeParse(report);
  if (event !== undefined) tell({ type: 'task.coding', task: item.id, agent: to.agent, event });
}

/** A capability with any payload: the loop knows only names. Payloads are validated where they are handled. */
const anyPayload = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });
