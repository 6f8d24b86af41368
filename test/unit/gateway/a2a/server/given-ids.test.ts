import { describe, expect, it } from 'vitest';
import { TaskEngine } from '../../../../../actors/tasks/index.ts';
import { systemSeams } from '../../../../../runtime/protocol/system-seams.ts';
import type { TaskService } from '../../../../../runtime/protocol/task-service.ts';
import { givenTaskId } from '../../../../../gateway/a2a/wire/v01/given-ids.ts';
import { withGivenIds } from '../../../../../gateway/a2a/server/task-access.ts';
import { KeptTasks } from '../../../../fixtures/kept-tasks.ts';
import { rejection } from '../../../../fixtures/until.ts';

const ALICE = { principalId: 'alice', tenant: 'acme' };
const BOB = { principalId: 'bob', tenant: 'acme' };
const ELSEWHERE = { principalId: 'alice', tenant: 'other' };

let count = 0;
const say = (newTaskId?: string, taskId?: string, agentId = 'mars') => ({
  agentId,
  message: { messageId: `m${++count}`, role: 'user' as const, parts: [{ text: 'hello' }] },
  ...(newTaskId === undefined ? {} : { newTaskId }),
  ...(taskId === undefined ? {} : { taskId }),
});

async function open(
  log = new KeptTasks(),
): Promise<{ readonly engine: TaskEngine; readonly tasks: TaskService }> {
  const run = async () => ({ state: 'input-required' }) as const;
  const engine = await TaskEngine.open({ seams: systemSeams(), log, run });
  return { engine, tasks: withGivenIds(engine) };
}

describe('Tasks whose owners choose their ids', () => {
  it('are one for each owner, who finds it by the id alone', async () => {
    const { tasks } = await open();
    const made = await Promise.all([ALICE, BOB, ELSEWHERE].map((owner) => tasks.send(owner, say('job'))));
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    expect(tasks.get(BOB, 'job').id).toBe(made[1]?.id);
    expect(tasks.agentOf(ELSEWHERE, 'job')).toBe('mars');
    expect(() => tasks.get(BOB, made[0]?.id ?? '')).toThrow(/TASK_NOT_FOUND|no task/i);
  });

  it('are opened once, also by two messages at once, and go on with the next', async () => {
    const { tasks, engine } = await open();
    const [one, two] = await Promise.all([tasks.send(ALICE, say('job')), tasks.send(ALICE, say('job'))]);
    expect(two?.id).toBe(one?.id);
    const three = await tasks.send(ALICE, say(undefined, 'job'));
    expect(three.id).toBe(one?.id);
    expect(engine.size).toBe(1);
    expect((await tasks.whenIdle(ALICE, 'job')).history).toHaveLength(3);
  });

  it('are found by the id that they have as well, and one that has it is not opened again', async () => {
    const { tasks, engine } = await open();
    const { id } = await tasks.send(ALICE, say());
    expect((await tasks.send(ALICE, say(id))).id).toBe(id);
    expect(engine.size).toBe(1);
    expect((await tasks.cancel(ALICE, id)).status.state).toBe('canceled');
  });

  it('cannot be had by naming the id that somebody else’s has', async () => {
    const { tasks } = await open();
    const { id } = await tasks.send(ALICE, say('job'));
    const forged = await tasks.send(BOB, say(id));
    expect(forged.id).toBe(givenTaskId(BOB, id));
    expect(tasks.get(ALICE, 'job').history).toHaveLength(1);
    expect((await rejection(tasks.cancel(BOB, 'job'))).code).toBe('TASK_NOT_FOUND');
    expect(() => tasks.changes(BOB, 'job')).toThrow(/no task/i);
  });

  it('are not those of another agent', async () => {
    const { tasks } = await open();
    await tasks.send(ALICE, say('job'));
    const refused = await rejection(tasks.send(ALICE, say('job', undefined, 'venus')));
    expect(refused.message).toBe('venus has no task "job"');
  });

  it('are what they were after a restart', async () => {
    const log = new KeptTasks();
    const former = await open(log);
    const { id } = await former.tasks.send(ALICE, say('job'));
    await former.tasks.whenIdle(ALICE, 'job');
    await former.engine.close();
    const { tasks } = await open(log);
    expect(tasks.get(ALICE, 'job').id).toBe(id);
    expect((await tasks.send(ALICE, say('job'))).id).toBe(id);
  });
});
