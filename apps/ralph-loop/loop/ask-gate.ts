import { fromCallback } from 'xstate';
import { findingsVerify } from '../agents/capabilities.ts';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, type RunScope } from './run-scope.ts';
import type { JudgeOrder } from './task.machine.ts';
import type { TaskEvent } from './task-context.ts';
import { tainted } from './work-taint.ts';

/** The actor of a task that is judged: asks the gate. It stops when the task's machine leaves the state. */
export const askGate = (run: RunScope) =>
  fromCallback<TaskEvent, JudgeOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    void judge(run, input, left.signal).then(sendBack);
    return () => left.abort();
  });

/**
 * Asks the gate; resolves to the event for its verdict or failure. If the gate dies it is asked once more: that says nothing
 * about the result, and the work need not be repeated.
 */
async function judge(run: RunScope, order: JudgeOrder, signal: AbortSignal): Promise<TaskEvent> {
  try {
    return await judgement(run, order, signal);
  } catch (error) {
    const first = lostAnswer(error);
    if (first.isLasting || signal.aborted) return gateLost(run, first.reason);
  }
  return judgement(run, order, signal).catch((error: unknown) => gateLost(run, lostAnswer(error).reason));
}

async function judgement(
  run: RunScope,
  { item, result, taint }: JudgeOrder,
  signal: AbortSignal,
): Promise<TaskEvent> {
  const { id, title, description, capability, acceptance } = item;
  const task = { id, title, ...(description === undefined ? {} : { description }), capability, acceptance };
  const { verdict, approved, rejected, feedback } = await run.team.loop.ask(
    { agent: run.gate, capability: findingsVerify },
    { root: run.root, findings: result.findings, task },
    {
      timeoutMs: askTimeoutMs(run),
      signal,
      correlationId: item.correlationId,
      whenFull: 'park',
      ...tainted(taint),
    },
  );
  return {
    type: 'gate.judged',
    judgement: { verdict, approved, refused: rejected, feedback },
    atMs: run.clock.now(),
  };
}

const gateLost = (run: RunScope, reason: string): TaskEvent => ({
  type: 'gate.lost',
  why: `${run.gate} could not judge the result: ${reason}`,
  atMs: run.clock.now(),
});
