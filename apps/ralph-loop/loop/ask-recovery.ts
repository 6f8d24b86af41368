import { fromCallback } from 'xstate';
import { missionRecover } from '../agents/capabilities.ts';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, type RunScope } from './run-scope.ts';
import type { RecoveryOrder } from './task.machine.ts';
import type { TaskEvent } from './task-context.ts';

/** The actor of a task that no agent is left for: asks the assigner. It stops when the task's machine leaves the state. */
export const askRecovery = (run: RunScope) =>
  fromCallback<TaskEvent, RecoveryOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    void recovery(run, input, left.signal).then(sendBack);
    return () => left.abort();
  });

/** Asks the assigner; resolves to the event for its decision. Without an answer a human must decide. */
async function recovery(run: RunScope, order: RecoveryOrder, signal: AbortSignal): Promise<TaskEvent> {
  const { item, declined, attempts, isRecovered, why } = order;
  const { id, title, capability, correlationId } = item;
  try {
    const roster = await run.team.roster();
    const answer = await run.team.loop.ask(
      { agent: run.assigner, capability: missionRecover },
      {
        task: { id, title, capability },
        why,
        isSecondTime: isRecovered,
        tried: [
          ...attempts.map(({ agent, ended, reason }) => ({ agent, reason: reason ?? ended })),
          ...declined,
        ],
        roster: [...roster],
      },
      { timeoutMs: askTimeoutMs(run), signal, correlationId, whenFull: 'park' },
    );
    const { decision, reason } = answer;
    const said = `${run.assigner}: ${reason}`;
    return decision === 'again' ? { type: 'agent.found', why: said } : { type: 'human.needed', why: said };
  } catch (error) {
    return {
      type: 'human.needed',
      why: `${why}; ${run.assigner} could not help: ${lostAnswer(error).reason}`,
    };
  }
}
