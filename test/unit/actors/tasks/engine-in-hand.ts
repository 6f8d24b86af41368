import { TaskEngine, type TaskEngineOptions } from '../../../../actors/tasks/task-engine.ts';
import type { Turn, TurnOutcome } from '../../../../actors/tasks/task-turns.ts';
import { systemSeams } from '../../../../runtime/protocol/system-seams.ts';
import type { Task, TaskChange } from '../../../../runtime/protocol/task.ts';
import type { Said } from '../../../../runtime/protocol/task-service.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { until } from '../../../fixtures/until.ts';

export const ALICE = { principalId: 'alice', tenant: 'acme' };
/** Owners who are not Alice, however alike. */
export const OTHERS = [
  { principalId: 'bob', tenant: 'acme' },
  { principalId: 'alice', tenant: 'other' },
  { principalId: 'alice' },
];

/** What Alice says to MARS. */
export const said = (messageId: string, changes: Partial<Said> = {}): Said => ({
  message: { messageId, role: 'user', parts: [{ text: messageId }] },
  agentId: 'mars',
  ...changes,
});

export const artifact = (text: string) => ({ artifactId: 'a', parts: [{ text }] });

/** An engine whose turns are in the hands of the test. */
export async function engineInHand(options: Partial<TaskEngineOptions> = {}) {
  const clock = new FakeClock();
  const turns: { turn: Turn; end: (outcome: TurnOutcome) => void; fail: (error: Error) => void }[] = [];
  const run = (turn: Turn): Promise<TurnOutcome> =>
    new Promise((end, fail) => {
      turns.push({ turn, end, fail });
    });
  const engine = await TaskEngine.open({ seams: { ...systemSeams(), clock }, run, ...options });
  const turnOf = (at: number) => until(`turn ${at}`, () => turns[at]);
  const ended = (id: string): Promise<Task> => engine.whenIdle(ALICE, id);
  return { clock, engine, turns, turnOf, ended };
}

/** All changes of a task that is over. */
export async function all(changes: AsyncIterable<TaskChange>): Promise<TaskChange[]> {
  const found: TaskChange[] = [];
  for await (const change of changes) found.push(change);
  return found;
}
