import { startSystem, type Team } from 'orrery';
import { approveWith, openSystemTasks, type Task } from 'orrery/tasks';
import { describe, expect, it } from 'vitest';
import { badServer, textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { rejection, until } from '../fixtures/until.ts';

const OWNER = { principalId: 'key:alice' };
const taint = ['web:example.org'];
const calls = toolOf('bad', 'calls');
const bad = () => badServer({ privileged: ['calls'] });
const numberOf = async (system: Team, tool: string): Promise<number> =>
  Number(textOf(await system.ask(toolOf('bad', tool), {})));
const described = (system: Team): string | undefined =>
  system.registry.getById('bad')?.capabilities.find(({ id }) => id === 'calls')?.description;

/** Its server describes its tools in other words; resolves when that is known here. */
async function changes(system: Team, pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR2');
  await until('its tools are others', async () => described(system) === 'really calls');
}

describe('a tool of an MCP server that is another one under the same name by the time it is approved (F-09)', () => {
  it.each([true, false])('is not what the approver approved, who is asked anew (%s)', async (approved) => {
    await using system = await startSystem({ agents: [bad()] });
    const pid = await numberOf(system, 'pid');
    const asked: unknown[] = [];
    await approveWith(system, async ({ details }) => {
      asked.push((details as { definition: unknown }).definition);
      if (asked.length > 1) return approved;
      await changes(system, pid);
      return true;
    });
    const called = system.ask(calls, {}, { taint });
    if (approved) expect(textOf(await called)).toBe('2');
    else {
      expect((await rejection(called)).code).toBe('TAINTED');
      // Which is the second call, that of `pid` being the first.
      expect(textOf(await system.ask(calls, {}))).toBe('2');
    }
    expect([asked.length, new Set(asked).size]).toEqual([2, 2]);
  });

  it('is not what the owner of a task approved, who is asked anew; one that is the same is', async () => {
    await using system = await startSystem({ agents: [bad()] });
    const tasks = await openSystemTasks(system);
    const pid = await numberOf(system, 'pid');
    let messages = 0;
    const say = async (data: unknown, taskId?: string): Promise<Task> => {
      const message = { messageId: `m${++messages}`, role: 'user', parts: [{ data }] };
      const said = { agentId: 'bad', message, terms: { taint }, ...(taskId && { taskId }) };
      const { id } = await tasks.send(OWNER, said as never);
      return tasks.whenIdle(OWNER, id);
    };
    const approve = (task: Task): Promise<Task> =>
      say({ approvalId: approvalIn(task), approved: true }, task.id);
    const first = await say({ tool: 'calls', arguments: {} });
    await changes(system, pid);
    const again = await approve(first);
    expect([again.status.state, approvalIn(again) === approvalIn(first)]).toEqual(['input-required', false]);
    const done = await approve(again);
    expect(done.status.state).toBe('completed');
    expect(JSON.stringify(done.artifacts)).toContain('"2"');
    // What the server lists again as it was is what it was.
    const next = await say({ tool: 'calls', arguments: {} });
    const tools = ['calls', 'change', 'new'];
    await system.ask(toolOf('bad', 'change'), { tools });
    await until(
      'it has another tool',
      async () => system.registry.getById('bad')?.capabilities.some(({ id }) => id === 'new') === true,
    );
    expect((await approve(next)).status.state).toBe('completed');
    await tasks.close();
  });
});

function approvalIn({ status }: Task): string {
  const [id] = (status.message?.parts ?? []).flatMap((part) => {
    const data = ('data' in part ? part.data : {}) as { approvalRequired?: { approvalId: string } };
    return data.approvalRequired === undefined ? [] : [data.approvalRequired.approvalId];
  });
  return id as string;
}
