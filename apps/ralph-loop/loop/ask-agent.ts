import { type Capability, capability } from 'orrery';
import { fromCallback } from 'xstate';
import { z } from 'zod';
import { awaitSwarm } from './await-swarm.ts';
import { type LostAnswer, lostAnswer } from './lost-answer.ts';
import { attemptTimeoutMs, type RunScope } from './run-scope.ts';
import type { WorkOrder } from './task.machine.ts';
import { takeReport } from './take-report.ts';
import { taskAnswer } from './task-answer.ts';
import type { TaskEvent } from './task-context.ts';
import { restMs } from './task-moves.ts';
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
        timeoutMs: attemptTimeoutMs(run, item),
        signal: hear.signal,
        correlationId: item.correlationId,
        whenFull: 'park',
        ...tainted(taintOfAll([taint, order.taint])),
        onTaint: (sources) => hear.tell({ type: 'work.tainted', taint: sources }),
        onProgress: ({ fraction, note, report }) => {
          if (report === undefined)
            tell({ type: 'task.progress', task: item.id, agent: to.agent, fraction, note });
          else if (item.code !== undefined) {
            const usage = takeReport(run, { item, agent: to.agent, report });
            if (usage !== undefined) hear.tell({ type: 'work.used', usage });
          }
        },
      },
    );
    return taskAnswer(output, clock.now());
  } catch (error) {
    const answer = lostAnswer(error);
    const atMs = clock.now();
    if (answer.code !== 'RATE_LIMITED') return { type: 'agent.lost', answer, atMs };
    return { type: 'agent.lost', answer, atMs, other: await anotherAgent(run, order, answer) };
  } finally {
    run.spending.ended(item.id, to.agent);
  }
}

/** An agent that could do it instead of one whose provider limits it. */
async function anotherAgent(
  { team, clock, limited }: RunScope,
  { item, to, rests }: WorkOrder,
  answer: LostAnswer,
): Promise<string | undefined> {
  limited.note(to.agent, clock.now() + restMs(rests, answer));
  const roster = await team.roster().catch(() => []);
  return limited.free(roster, item.capability, clock.now());
}

/** A capability with any payload: the loop knows only names. Payloads are validated where they are handled. */
const anyPayload = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });
