import { type Capability, capability } from 'orrery';
import { fromCallback } from 'xstate';
import { z } from 'zod';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, type RunScope } from './run-scope.ts';
import type { WorkOrder } from './task.machine.ts';
import type { TaskEvent } from './task-context.ts';
import { TaskResult } from './task-result.ts';

/** Asks the assigned agent to do the task, until the task's machine leaves the state that needed it. */
export const askAgent = (run: RunScope) =>
  fromCallback<TaskEvent, WorkOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    void work(run, input, left.signal).then(sendBack);
    return () => left.abort();
  });

/** Asks and says how it went; never rejects. */
async function work(run: RunScope, order: WorkOrder, signal: AbortSignal): Promise<TaskEvent> {
  const { item, to } = order;
  const { clock, team, tell } = run;
  try {
    const output = await team.ask(
      { agent: to.agent, capability: anyPayload(item.capability) },
      inputOf(run, order),
      {
        timeoutMs: askTimeoutMs(run),
        signal,
        correlationId: item.correlationId,
        whenFull: 'park',
        onProgress: ({ fraction, note }) =>
          tell({ type: 'task.progress', task: item.id, agent: to.agent, fraction, note }),
      },
    );
    const result = TaskResult.safeParse(output);
    const atMs = clock.now();
    if (result.success) return { type: 'agent.answered', result: result.data, atMs };
    return { type: 'agent.misspoke', why: faultsOf(result.error), atMs };
  } catch (error) {
    return { type: 'agent.lost', answer: lostAnswer(error), atMs: clock.now() };
  }
}

/**
 * The loop knows of a mission's capabilities only their names; what they take is checked where they are
 * handled.
 */
const anyPayload = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });

const inputOf = ({ root }: RunScope, { item, feedback }: WorkOrder): unknown => ({
  ...item.input,
  root,
  ...(feedback === undefined ? {} : { feedback }),
});

const MAX_FAULTS = 5;

const faultsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, MAX_FAULTS)
    .map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
    .join('; ');
